import { access, constants } from "node:fs/promises";
import path from "node:path";

/** The absolute path of a program in the first folder of PATH that has it; undefined if none has. */
export async function findProgram(
  name: string,
  env: Readonly<Record<string, string | undefined>>,
  platform: NodeJS.Platform,
): Promise<string | undefined> {
  const isWindows = platform === "win32";
  const folders = (env.PATH ?? env.Path ?? "").split(isWindows ? ";" : ":").filter((folder) => path.isAbsolute(folder));
  for (const folder of folders) {
    const file = path.join(folder, isWindows ? `${name}.exe` : name);
    if (
      await access(file, constants.X_OK).then(
        () => true,
        () => false,
      )
    )
      return file;
  }
  return undefined;
}
