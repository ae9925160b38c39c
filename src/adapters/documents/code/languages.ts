/** The node types of a tree-sitter grammar that are needed to split its sources. */
export interface CodeLanguage {
  /** The name of the grammar, also used as the language of code blocks. */
  grammar: string;
  definitions: ReadonlySet<string>;
  containers: ReadonlySet<string>;
  /** Nodes without a name around definitions. */
  wrappers: ReadonlySet<string>;
}

function defineLanguage(
  grammar: string,
  definitions: string,
  containers: string,
  wrappers = '',
): CodeLanguage {
  const set = (names: string): Set<string> => new Set(names.split(' ').filter(Boolean));
  return {
    grammar,
    definitions: set(`${definitions} ${containers}`),
    containers: set(containers),
    wrappers: set(wrappers),
  };
}

const SCRIPT = [
  'function_declaration generator_function_declaration method_definition variable_declarator ' +
    'type_alias_declaration enum_declaration abstract_method_signature function_signature',
  'class_declaration abstract_class_declaration interface_declaration internal_module module',
  'export_statement ambient_declaration expression_statement lexical_declaration variable_declaration',
] as const;

const javascript = defineLanguage('javascript', ...SCRIPT);
const typescript = defineLanguage('typescript', ...SCRIPT);
const cpp = defineLanguage(
  'cpp',
  'function_definition enum_specifier concept_definition alias_declaration',
  'class_specifier struct_specifier union_specifier namespace_definition',
  'template_declaration linkage_specification preproc_ifdef preproc_if preproc_else type_definition',
);
const shell = defineLanguage('bash', 'function_definition', '');
const ruby = defineLanguage('ruby', 'method singleton_method', 'class module');

const BY_EXTENSION: Readonly<Record<string, CodeLanguage>> = {
  py: defineLanguage('python', 'function_definition', 'class_definition', 'decorated_definition'),
  js: javascript,
  mjs: javascript,
  cjs: javascript,
  jsx: javascript,
  ts: typescript,
  mts: typescript,
  cts: typescript,
  tsx: defineLanguage('tsx', ...SCRIPT),
  go: defineLanguage('go', 'function_declaration method_declaration type_spec', '', 'type_declaration'),
  rs: defineLanguage(
    'rust',
    'function_item function_signature_item struct_item enum_item union_item type_item macro_definition',
    'impl_item trait_item mod_item',
  ),
  java: defineLanguage(
    'java',
    'method_declaration constructor_declaration compact_constructor_declaration annotation_type_declaration',
    'class_declaration interface_declaration enum_declaration record_declaration',
  ),
  cs: defineLanguage(
    'c-sharp',
    'method_declaration constructor_declaration enum_declaration delegate_declaration',
    'class_declaration struct_declaration interface_declaration record_declaration namespace_declaration',
    'file_scoped_namespace_declaration',
  ),
  c: cpp,
  h: cpp,
  cc: cpp,
  cpp,
  cxx: cpp,
  hh: cpp,
  hpp: cpp,
  rb: ruby,
  php: defineLanguage(
    'php',
    'function_definition method_declaration',
    'class_declaration interface_declaration trait_declaration enum_declaration',
    'namespace_definition',
  ),
  sh: shell,
  bash: shell,
  ps1: defineLanguage(
    'powershell',
    'function_statement class_method_definition',
    'class_statement',
    'statement_list',
  ),
};

export const CODE_EXTENSIONS: readonly string[] = Object.keys(BY_EXTENSION);

export function codeLanguageOfPath(path: string): CodeLanguage | null {
  const extension = /\.(\w+)$/.exec(path)?.[1]?.toLowerCase() ?? '';
  return Object.hasOwn(BY_EXTENSION, extension) ? (BY_EXTENSION[extension] ?? null) : null;
}
