import { writeFile } from "node:fs/promises";
import path from "node:path";

/**
 * Jest and the vm pools of vitest give every test file modules, `require` and `process` of their own, and Jest reads no ES modules without a flag.
 * A script in Node's own context is given Node's own, with which the package is loaded once per process however many test files there are.
 */
const NODES_OWN = `runInThisContext('process.getBuiltinModule("node:module")')`;

/** What `require` of an entry loads: the same modules that `import` does. */
const COMMON_JS = (file: string) => `"use strict";
const { runInThisContext } = require("node:vm");
module.exports = ${NODES_OWN}.createRequire(__filename)("./${file}");
`;

/**
 * What `import` of binnacle/testing loads: Node has to be told to keep what it compiles before the modules are read. Not where
 * coverage is measured, which would be less exact for what comes out of the cache.
 */
const TESTING = (file: string, names: readonly string[]) => `import { runInThisContext } from "node:vm";
const { createRequire, enableCompileCache } = ${NODES_OWN};
if (!process.env.NODE_V8_COVERAGE) enableCompileCache();
export const { ${names.join(", ")} } = createRequire(import.meta.url)("./${file}");
`;

/** Writes the files that lead to the entries of the package. `names` are what binnacle/testing exports. */
export async function writeEntryFiles(outdir: string, names: readonly string[] = []): Promise<void> {
  if (names.length === 0) throw new Error("the bundle has no binnacle/testing");
  await writeFile(path.join(outdir, "testing.js"), TESTING("testing-modules.js", names));
  await writeFile(path.join(outdir, "testing.cjs"), COMMON_JS("testing.js"));
  await writeFile(path.join(outdir, "index.cjs"), COMMON_JS("index.js"));
}
