import { buffer } from "node:stream/consumers";
import type { CommandRequest, ContainerDefinition } from "../../src/index.ts";
import { type Files, readTar, writeTar } from "./tar.ts";

const withoutSlash = (path: string) => path.replace(/^\/+|\/+$/g, "");

/** A container with files in memory and the three commands that `kubectl cp` runs: `test -d`, `tar -x` and `tar c`. */
export function filesImage(files: Files): ContainerDefinition {
  const isFolder = (path: string) => [...files.keys()].some((name) => name.startsWith(`${withoutSlash(path)}/`));
  const below = (path: string) =>
    [...files].filter(([name]) => name === withoutSlash(path) || name.startsWith(`${withoutSlash(path)}/`));

  async function extract({ command, stdin }: CommandRequest): Promise<number> {
    const at = command.indexOf("-C");
    const folder = at < 0 ? "" : withoutSlash(command[at + 1] ?? "");
    for (const [name, content] of readTar(stdin ? await buffer(stdin) : Buffer.alloc(0))) {
      files.set(withoutSlash(`${folder}/${name}`), content);
    }
    return 0;
  }

  function create({ command, stdout, stderr }: CommandRequest): number {
    const path = command.at(-1) ?? "";
    const found = below(path);
    if (found.length === 0) stderr?.write(`tar: ${path}: No such file or directory\n`);
    stdout?.write(writeTar(found));
    return found.length === 0 ? 2 : 0;
  }

  return {
    exec: (request) => {
      const [program, ...args] = request.command;
      if (program === "test") return isFolder(args.at(-1) ?? "") ? 0 : 1;
      if (program === "cat") return `${files.get(withoutSlash(args[0] ?? ""))}`;
      if (program === "tar") return args.includes("-xmf") ? extract(request) : create(request);
      return 127;
    },
  };
}
