import path from "node:path";
import { pathToFileURL } from "node:url";
import type { CodedKind } from "../../kinds/custom/coded-kind.ts";

/** Loads the kinds that modules export under any name. Rejects if a module cannot be loaded or exports no kind. */
export async function loadKinds(files: readonly string[]): Promise<CodedKind[]> {
  const kinds: CodedKind[] = [];
  for (const file of files) {
    const exported: Record<string, unknown> = await import(pathToFileURL(path.resolve(file)).href);
    const found = Object.values(exported).flat().filter(isKind);
    if (found.length === 0)
      throw new Error(`--kinds=${file}: the module exports no kind; export the result of defineKind`);
    for (const kind of found) kinds.push(kind);
  }
  return kinds;
}

function isKind(value: unknown): value is CodedKind {
  return typeof value === "object" && value !== null && "crd" in value && "hooks" in value;
}
