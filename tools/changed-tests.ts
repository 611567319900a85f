import path from "node:path";

/** The relative imports of a module, static and dynamic. Imports of types are left out: they do not change what runs. */
function importsOf(text: string): string[] {
  const found = text.matchAll(/^(?:import|export) (?!type )(?:[^;]*? from )?"(\.[^"]+)"|\bimport\("(\.[^"]+)"/gm);
  return Array.from(found, ([, still, late]) => still ?? late ?? "");
}

/** The test files that import a changed file, directly or not, or are one. Paths are relative to one folder. */
export function testsOf(
  changed: readonly string[],
  tests: readonly string[],
  read: (file: string) => string,
): readonly string[] {
  const imports = new Map<string, readonly string[]>();
  const importsOfFile = (file: string): readonly string[] => {
    let known = imports.get(file);
    if (known === undefined) {
      known = file.endsWith(".ts") ? importsOf(read(file)).map((name) => path.join(path.dirname(file), name)) : [];
      imports.set(file, known);
    }
    return known;
  };
  const reaches = (test: string): boolean => {
    const seen = new Set([test]);
    for (const file of seen) {
      if (changed.includes(file)) return true;
      for (const next of importsOfFile(file)) seen.add(next);
    }
    return false;
  };
  return tests.filter(reaches);
}
