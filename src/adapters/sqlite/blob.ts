/** The bytes of a typed array, to be stored. */
export function bytesOf(array: ArrayBufferView): Uint8Array {
  return new Uint8Array(array.buffer, array.byteOffset, array.byteLength);
}

/** A typed array over the bytes of a BLOB. SQLite's bytes may start anywhere, so they are copied to an aligned place if need be. */
export function view<T>(
  type: { new (buffer: ArrayBuffer, offset: number, length: number): T; BYTES_PER_ELEMENT: number },
  blob: unknown,
): T {
  const bytes = blob instanceof Uint8Array ? blob : new Uint8Array();
  const aligned = bytes.byteOffset % type.BYTES_PER_ELEMENT === 0 ? bytes : bytes.slice();
  return new type(
    aligned.buffer as ArrayBuffer,
    aligned.byteOffset,
    Math.floor(aligned.byteLength / type.BYTES_PER_ELEMENT),
  );
}
