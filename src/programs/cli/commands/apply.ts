import type { Command } from "commander";
import { groupOf, groupVersionPath, isObject } from "../../../base/api/object.ts";
import { JsonClient, objectIn, refusalIn } from "../../../base/net/json-client.ts";
import { systemClock } from "../../../base/util/clock.ts";
import { readKubeconfig } from "../../../data/kubeconfig/kubeconfig-read.ts";
import { type Example, Failure, type Io } from "../command.ts";
import { addDataFlag, dataFolder } from "../local/data-folder.ts";
import { requireRunning } from "../local/running.ts";
import { type Manifest, readManifests } from "../manifests.ts";

/** Examples at the top of `--help`. */
export const examples: readonly Example[] = [
  ["Apply a folder of manifests", "binnacle apply -f manifests/"],
  ["Apply standard input", "cat app.yaml | binnacle apply -f -"],
];

interface ApplyFlags {
  readonly filename: string[];
  readonly namespace: string;
  readonly dataDir?: string;
}

const LIMITS = { timeoutMs: 60_000, maxBytes: 64 * 1024 * 1024 };
const DEFINITION_PATIENCE_MS = 10_000;
const LOOK_EVERY_MS = 50;
/** Kinds that other objects depend on are applied first. */
const FIRST_KINDS = ["Namespace", "CustomResourceDefinition"];

/** Applies manifests with server-side apply, and takes over fields of other managers. */
export function configure(command: Command, io: Io): void {
  addDataFlag(command)
    .requiredOption("-f, --filename <file...>", "files and folders of manifests; - for standard input")
    .option("-n, --namespace <namespace>", "namespace of objects without one", "default")
    .action((flags: ApplyFlags) => apply(flags, io));
}

async function apply({ filename, namespace, dataDir }: ApplyFlags, io: Io): Promise<void> {
  const folder = dataFolder(dataDir, io);
  const manifests = await readManifests(filename, io.cwd, "--filename");
  await requireRunning(folder);
  using client = new JsonClient(await readKubeconfig(folder.kubeconfig), systemClock);
  const known = new Discovery(client, new Set(manifests.flatMap(definedGroup)));
  const rank = ({ kind }: Manifest) => (FIRST_KINDS.includes(kind) ? FIRST_KINDS.indexOf(kind) : FIRST_KINDS.length);
  let failures = 0;
  for (const manifest of manifests.toSorted((a, b) => rank(a) - rank(b))) {
    try {
      io.print(`${await applyOne(client, known, manifest, namespace)}\n`);
    } catch (error) {
      if (!(error instanceof Failure)) throw error;
      failures++;
      io.complain(`binnacle: ${manifest.source}: ${error.message}\n`);
    }
  }
  if (failures > 0) throw new Failure(`${failures} of ${manifests.length} objects were rejected`);
}

async function applyOne(client: JsonClient, known: Discovery, manifest: Manifest, namespace: string): Promise<string> {
  const { kind, name, apiVersion, object } = manifest;
  const { plural, isNamespaced } = await known.resourceOf(apiVersion, kind);
  const scope = isNamespaced ? `/namespaces/${encodeURIComponent(manifest.namespace ?? namespace)}` : "";
  const path = `${groupVersionPath(apiVersion)}${scope}/${plural}/${encodeURIComponent(name)}?fieldManager=binnacle&force=true`;
  const body = JSON.stringify(object);
  const contentType = "application/apply-patch+yaml";
  const answer = await client.ask({ ...LIMITS, method: "PATCH", path, body, contentType });
  if (answer.status >= 300) throw new Failure(refusalIn(answer));
  return `${kind.toLowerCase()}/${name} ${answer.status === 201 ? "created" : "applied"}`;
}

/** The group of a CustomResourceDefinition. */
function definedGroup({ kind, object }: Manifest): string[] {
  const { group } = isObject(object.spec) ? object.spec : {};
  return kind === "CustomResourceDefinition" && typeof group === "string" ? [group] : [];
}

interface Resource {
  readonly plural: string;
  readonly isNamespaced: boolean;
}

/** Finds the resource of a kind with the server's discovery. */
class Discovery {
  readonly #client: JsonClient;
  readonly #awaited: ReadonlySet<string>;
  readonly #versions = new Map<string, Map<string, Resource>>();

  /** Waits for kinds of the groups in `awaited`: their CustomResourceDefinitions were just applied. */
  constructor(client: JsonClient, awaited: ReadonlySet<string>) {
    this.#client = client;
    this.#awaited = awaited;
  }

  async resourceOf(apiVersion: string, kind: string): Promise<Resource> {
    const since = systemClock.monotonic();
    for (;;) {
      const kinds = this.#versions.get(apiVersion) ?? (await this.#load(apiVersion));
      const found = kinds.get(kind);
      if (found) return found;
      const isAwaited = this.#awaited.has(groupOf(apiVersion));
      if (!isAwaited || systemClock.monotonic() - since > DEFINITION_PATIENCE_MS) {
        throw new Failure(`unknown kind ${kind} in ${apiVersion}; apply its CustomResourceDefinition first`);
      }
      this.#versions.delete(apiVersion);
      await systemClock.sleep(LOOK_EVERY_MS);
    }
  }

  async #load(apiVersion: string): Promise<Map<string, Resource>> {
    const { status, body } = await this.#client.ask({ ...LIMITS, method: "GET", path: groupVersionPath(apiVersion) });
    const list = status === 200 ? objectIn(body).resources : [];
    const resources = Array.isArray(list) ? list.filter(isObject) : [];
    const kinds = new Map(
      resources
        .filter(({ name }) => typeof name === "string" && !name.includes("/"))
        .map(({ name, kind, namespaced }) => [
          String(kind),
          { plural: String(name), isNamespaced: namespaced === true },
        ]),
    );
    this.#versions.set(apiVersion, kinds);
    return kinds;
  }
}
