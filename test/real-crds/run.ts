import path from "node:path";
import type { JsonObject } from "../../src/base/api/object.ts";
import { type Compared, printCompared, RealDefinitions } from "./comparison.ts";
import { moduleFolder, objectsBelow } from "./modules.ts";
import { PROJECTS, type Project } from "./projects.ts";

/** Installs the definitions of projects on both servers and compares what they say about them and their samples. */
export async function compareProjects(projects: readonly Project[], seed: number): Promise<Compared> {
  const folders = await Promise.all(projects.map(moduleFolder));
  const servers = await RealDefinitions.start(seed);
  try {
    const samples: JsonObject[] = [];
    for (const [index, project] of projects.entries()) {
      const root = folders[index] ?? "";
      for (const folder of project.folders.map((name) => path.join(root, name))) {
        const definitions = (await objectsBelow(folder)).filter(({ kind }) => kind === "CustomResourceDefinition");
        await servers.install(folder, definitions);
      }
      for (const object of await objectsBelow(root))
        if (object.kind !== "CustomResourceDefinition") samples.push(object);
    }
    await servers.documents();
    await servers.objects(samples);
    return servers.compared;
  } finally {
    await servers.stop();
  }
}

if (import.meta.main) {
  const names = process.argv.slice(2);
  const seed = Number(process.env.FUZZ_SEED ?? Math.floor(Math.random() * 2 ** 31));
  const compared = await compareProjects(
    PROJECTS.filter(({ name }) => names.length === 0 || names.includes(name)),
    seed,
  );
  process.stdout.write(`${printCompared(seed, compared)}\n`);
  process.exitCode = compared.findings.length > 0 ? 1 : 0;
}
