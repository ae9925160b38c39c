/** Announced by screen readers. */
export function ErrorMessage({ text }: { text: string }) {
  return (
    <p class="failure" role="alert">
      {text}
    </p>
  );
}
