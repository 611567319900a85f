import { readdir, readFile } from "node:fs/promises";
import path from "node:path";
import { type Plugin, transform } from "esbuild";

const root = path.join(import.meta.dirname, "..");
const source = (file: string) => path.join(root, "src", file);

/**
 * What is imported late, but only where a server runs. A module belongs to the chunk of all that reach it; as all of these are told
 * to reach the whole server, it is one chunk instead of thirty, each of which would be looked for and read at the start.
 */
const BESIDE_A_SERVER = [
  "programs/cli/commands/auth.ts",
  "programs/cli/commands/controllers.ts",
  "programs/cli/commands/export.ts",
  "programs/cli/commands/import.ts",
  "programs/cli/commands/plugins.ts",
  "serving/http/websocket.ts",
  "programs/library/load-kinds.ts",
  "base/log/system-environment.ts",
  "storage/cached-store.ts",
  "storage/etcd/store.ts",
  "storage/sqlite/store.ts",
];

/** Makes them reach it. */
export const besideServer: Plugin = {
  name: "beside-a-server",
  setup({ onLoad }) {
    const files = new Set(BESIDE_A_SERVER.map(source));
    onLoad({ filter: /\.ts$/ }, async ({ path: file }) => {
      if (!files.has(file)) return undefined;
      const text = await readFile(file, "utf8");
      return { contents: `${text}\nimport ${JSON.stringify(source("programs/server/server.ts"))};\n`, loader: "ts" };
    });
  },
};

/** Leaves out the comments of the packages that become a part of ours. The bundle is indented again. */
export const withoutComments: Plugin = {
  name: "without-comments",
  setup({ onLoad }) {
    onLoad({ filter: /[\\/]node_modules[\\/].*\.m?js$/ }, async ({ path: file }) => {
      const { code } = await transform(await readFile(file, "utf8"), { minifyWhitespace: true, legalComments: "none" });
      return { contents: code, loader: "js" };
    });
  },
};

/** What commander imports from Node for commands that are programs of their own, of which there are none. It costs more than all of commander. */
const COMMANDER_STUBS: Readonly<Record<string, string>> = {
  "node:child_process": "export default {};",
  "node:process": "export default globalThis.process;",
};

/** Puts nothing in its place. */
export const commanderStubs: Plugin = {
  name: "commander-stubs",
  setup({ onResolve, onLoad }) {
    onResolve({ filter: /^node:(child_process|process)$/ }, ({ path: name, importer }) =>
      importer.includes(path.join("node_modules", "commander")) ? { path: name, namespace: "stub" } : undefined,
    );
    onLoad({ filter: /./, namespace: "stub" }, ({ path: name }) => ({ contents: COMMANDER_STUBS[name] ?? "" }));
  },
};

/**
 * Modules of Node are asked for by `process.getBuiltinModule`. Importing one makes Node read each of its exports, and with that load what
 * stands behind them, such as streams for `node:fs`.
 */
export const builtIns: Plugin = {
  name: "built-ins",
  async setup({ onResolve, onLoad }) {
    const used = await usedNames(["src", "node_modules/commander/lib"]);
    onResolve({ filter: /^node:/ }, ({ path: name, kind }) =>
      kind === "import-statement" ? { path: name, namespace: "built-in" } : undefined,
    );
    onLoad({ filter: /./, namespace: "built-in" }, ({ path: name }) => {
      const members = [...(used.get(name) ?? [])].map((member) => `export const ${member} = all.${member};`);
      const all = `const all = process.getBuiltinModule(${JSON.stringify(name)});`;
      return { contents: [all, ...members, "export default all;"].join("\n") };
    });
  },
};

/** The names that files import from each module of Node. esbuild fails when one of them is missing. */
async function usedNames(folders: readonly string[]): Promise<Map<string, Set<string>>> {
  const used = new Map<string, Set<string>>();
  for (const folder of folders) {
    for (const file of await readdir(path.join(root, folder), { recursive: true })) {
      if (!/(?<!\.test|\.suite)\.[jt]s$/.test(file)) continue;
      const text = await readFile(path.join(root, folder, file), "utf8");
      for (const [, list = "", name = ""] of text.matchAll(
        /^import (?:\w+, )?\{([^}]*)\} from ["'](node:[^"']+)["']/gm,
      )) {
        const names = used.get(name) ?? new Set();
        used.set(name, names);
        for (const item of list.split(",").map((one) => one.trim())) {
          if (item !== "" && !item.startsWith("type ")) names.add(item.replace(/ as .*/, ""));
        }
      }
    }
  }
  return used;
}
