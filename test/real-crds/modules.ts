import { execFile } from "node:child_process";
import { readdir, readFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { promisify } from "node:util";
import { isObject, type JsonObject } from "../../src/base/api/object.ts";
import { decodeYaml } from "../../src/data/encoding/yaml/yaml.ts";
import { requireTool } from "../support/tools.ts";
import type { Project } from "./projects.ts";

/** The folder of a project's module in Go's module cache, which fetches it unless it is there. */
export async function moduleFolder({ module, version, sum }: Project): Promise<string> {
  const { stdout } = await promisify(execFile)(
    requireTool("go"),
    ["mod", "download", "-json", `${module}@${version}`],
    {
      // Outside of any module, and with the machine's own Go, as tools/provide uses it.
      cwd: tmpdir(),
      env: { ...process.env, GOTOOLCHAIN: "local", GOFLAGS: "-mod=mod" },
    },
  );
  const found = JSON.parse(stdout) as { Dir?: string; Sum?: string; Error?: string };
  if (found.Dir === undefined) throw new Error(`${module}@${version}: ${found.Error}`);
  if (found.Sum !== sum) throw new Error(`${module}@${version} has the hash ${found.Sum}, not ${sum}`);
  return found.Dir;
}

/** The objects in all YAML files below a folder, in the order of their files. Templates and the like are passed over. */
export async function objectsBelow(folder: string): Promise<JsonObject[]> {
  const files = await readdir(folder, { recursive: true, encoding: "utf8" });
  const objects: JsonObject[] = [];
  for (const file of files.filter((name) => /\.ya?ml$/.test(name)).sort()) {
    const text = await readFile(path.join(folder, file), "utf8");
    for (const document of text.split(/^---.*$/m)) {
      const object = objectOf(document);
      if (object) objects.push(object);
    }
  }
  return objects;
}

function objectOf(document: string): JsonObject | undefined {
  if (!/^apiVersion:/m.test(document)) return undefined;
  try {
    const { value } = decodeYaml(Buffer.from(document));
    return isObject(value) && typeof value.kind === "string" && typeof value.apiVersion === "string"
      ? value
      : undefined;
  } catch {
    return undefined;
  }
}
