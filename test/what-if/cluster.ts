import { execFile } from "node:child_process";
import { writeFile } from "node:fs/promises";
import path from "node:path";
import { promisify } from "node:util";
import { isObject, type JsonObject } from "../../src/base/api/object.ts";
import { printYaml } from "../../src/data/encoding/yaml/yaml-print.ts";
import { type Answer, type Client, clientFor } from "../support/client.ts";
import { kubectlFor } from "../support/kubectl.ts";
import { type Oracle, startOracle, tokens } from "../support/oracle.ts";
import { eventually } from "../support/time.ts";
import { requireTool } from "../support/tools.ts";
import { DEFINITIONS, QUOTA, RULES } from "./rules.ts";
import { NAMESPACES, type Sample } from "./samples.ts";

const APPLY_PATCH = "application/apply-patch+yaml";
/** So many requests at once. */
const LANES = 8;
/** How long the real server may take to follow new rules and definitions. */
const PATIENCE = { withinMs: 60_000, everyMs: 50 };

/** The real kube-apiserver with rules and objects in it. */
export class SampleCluster {
  readonly #oracle: Oracle;
  readonly #admin: Client;
  readonly #plurals = new Map<string, { readonly path: string; readonly isNamespaced: boolean }>();

  private constructor(oracle: Oracle) {
    this.#oracle = oracle;
    this.#admin = clientFor(oracle.base, tokens.admin);
  }

  /** Starts it and makes everything that samples want to be there. */
  static async start(samples: readonly Sample[]): Promise<SampleCluster> {
    const cluster = new SampleCluster(await startOracle());
    try {
      await cluster.#fill(samples);
      return cluster;
    } catch (error) {
      await cluster.stop();
      throw error;
    }
  }

  stop(): Promise<void> {
    return this.#oracle.kill();
  }

  /** Applies an object as `kubectl apply --server-side` does. */
  async apply(object: JsonObject, more: { readonly dryRun?: boolean; readonly as?: string } = {}): Promise<Answer> {
    const query = new URLSearchParams({ fieldManager: "kubectl", fieldValidation: "Strict" });
    if (more.dryRun) query.set("dryRun", "All");
    const headers = { "content-type": APPLY_PATCH, ...(more.as !== undefined && { "impersonate-user": more.as }) };
    return this.#admin.call("PATCH", `${await this.#pathOf(object)}?${query}`, object, headers);
  }

  /** Makes everything that depends on a definition possible. */
  async establish({ metadata }: JsonObject): Promise<void> {
    const { name } = metadata as { name: string };
    const path = `/apis/apiextensions.k8s.io/v1/customresourcedefinitions/${name}`;
    await eventually(async () => {
      const { body } = await this.#admin.call("GET", path);
      const conditions: JsonObject[] = body.status?.conditions ?? [];
      if (!conditions.some(({ type, status }) => type === "Established" && status === "True")) return false;
      const { group, versions, names } = body.spec;
      return (await this.#admin.call("GET", `/apis/${group}/${versions[0].name}/${names.plural}`)).status === 200;
    }, PATIENCE);
  }

  /** What `etcdctl snapshot save` writes. */
  async snapshot(folder: string): Promise<string> {
    const file = path.join(folder, "snapshot.db");
    const { etcdEndpoint } = this.#oracle;
    await promisify(execFile)(requireTool("etcdctl"), ["--endpoints", etcdEndpoint, "snapshot", "save", file]);
    return file;
  }

  /** A kubeconfig of an administrator. */
  async kubeconfig(folder: string): Promise<string> {
    const file = path.join(folder, "kubeconfig");
    const config: JsonObject = {
      apiVersion: "v1",
      kind: "Config",
      clusters: [
        { name: "c", cluster: { server: this.#oracle.base, "certificate-authority": this.#oracle.certificateFile } },
      ],
      users: [{ name: "u", user: { token: tokens.admin } }],
      contexts: [{ name: "x", context: { cluster: "c", user: "u" } }],
      "current-context": "x",
    };
    await writeFile(file, printYaml(config));
    return file;
  }

  /** What `kubectl get` prints of everything that it can list. */
  async dump(folder: string): Promise<string> {
    const kubectl = kubectlFor(await this.kubeconfig(folder));
    const run = async (args: readonly string[]) => {
      const { code, stdout, stderr } = await kubectl(args, { timeoutMs: 120_000 });
      if (code !== 0) throw new Error(`kubectl ${args.join(" ")} failed: ${stderr}`);
      return stdout;
    };
    const names = (await run(["api-resources", "--verbs=list", "-o", "name"])).trim().split("\n");
    const listed = names.filter((name) => name !== "componentstatuses");
    const file = path.join(folder, "dump.yaml");
    await writeFile(file, await run(["get", listed.join(), "-A", "-o", "yaml", "--show-managed-fields"]));
    return file;
  }

  async #fill(samples: readonly Sample[]): Promise<void> {
    for (const name of NAMESPACES) {
      const enforce = name === "shop-2" && { "pod-security.kubernetes.io/enforce": "baseline" };
      const labels = { team: "shop", ...enforce };
      await this.#create({ apiVersion: "v1", kind: "Namespace", metadata: { name, labels } });
      const metadata = { name: "default", namespace: name };
      await this.#create({ apiVersion: "v1", kind: "ServiceAccount", metadata });
    }
    for (const definition of DEFINITIONS) {
      await this.#create(definition);
      await this.establish(definition);
    }
    const made = samples.filter(({ live }) => live !== undefined);
    const lane = async (first: number) => {
      for (let at = first; at < made.length; at += LANES) await this.#make(made[at] as Sample);
    };
    await Promise.all(Array.from({ length: LANES }, (_, index) => lane(index)));
    for (const rule of RULES) await this.#create(rule);
    await this.#addQuota(made);
    await this.#rulesAreFollowed();
  }

  async #make({ live, madeBy }: Sample): Promise<void> {
    const object = live as JsonObject;
    if (madeBy === "helm") await this.#create(object, "helm");
    else await this.#require(await this.apply(object), object);
  }

  async #create(object: JsonObject, manager = "creator"): Promise<Answer> {
    const path = await this.#pathOf(object, "");
    return this.#require(await this.#admin.call("POST", `${path}?fieldManager=${manager}`, object), object);
  }

  #require(answer: Answer, object: JsonObject): Answer {
    if (answer.status < 300) return answer;
    throw new Error(`${JSON.stringify(object)} is refused: ${JSON.stringify(answer.body)}`);
  }

  /** Nobody counts what is there: a controller manager would. */
  async #addQuota(made: readonly Sample[]): Promise<void> {
    const count = (kind: string) =>
      made.filter(({ live }) => live?.kind === kind && (live.metadata as JsonObject).namespace === "shop-1").length;
    const counts: Readonly<Record<string, string>> = {
      configmaps: "ConfigMap",
      "count/widgets.shop.example": "Widget",
      pods: "Pod",
      services: "Service",
    };
    const used = Object.fromEntries(Object.entries(counts).map(([name, kind]) => [name, String(count(kind))]));
    const hard = Object.fromEntries(
      Object.entries(QUOTA).map(([name, more]) => [name, String(Number(used[name]) + Number(more))]),
    );
    const metadata = { name: "few", namespace: "shop-1" };
    const object = { apiVersion: "v1", kind: "ResourceQuota", metadata, spec: { hard } };
    const { body } = await this.#create(object);
    const path = `${await this.#pathOf(object)}/status`;
    this.#require(await this.#admin.call("PUT", path, { ...body, status: { hard, used } }), object);
  }

  /** The real server hears of new rules by watches. */
  async #rulesAreFollowed(): Promise<void> {
    const probe = (labels: JsonObject, namespace: string): JsonObject => ({
      apiVersion: "v1",
      kind: "ConfigMap",
      metadata: { name: "probe", namespace, labels },
    });
    await eventually(async () => {
      const refused = await this.apply(probe({ app: "x", forbidden: "x" }, "shop-0"), { dryRun: true });
      const allowed = await this.apply(probe({}, "shop-0"), { dryRun: true, as: "alice" });
      return refused.status === 403 && allowed.status === 201;
    }, PATIENCE);
  }

  async #pathOf(object: JsonObject, given?: string): Promise<string> {
    const { name, namespace } = object.metadata as { name: string; namespace?: string };
    const { path, isNamespaced } = await this.#placeOf(object);
    const scope = isNamespaced ? `/namespaces/${namespace}` : "";
    const end = (given ?? name) === "" ? "" : `/${given ?? name}`;
    const [root, plural] = path;
    return `${root}${scope}/${plural}${end}`;
  }

  async #placeOf({
    apiVersion,
    kind,
  }: JsonObject): Promise<{ path: readonly [string, string]; isNamespaced: boolean }> {
    const root = String(apiVersion).includes("/") ? `/apis/${apiVersion}` : `/api/${apiVersion}`;
    let known = this.#plurals.get(`${apiVersion}/${kind}`);
    if (!known) {
      const { body } = await this.#admin.call("GET", root);
      const resources: JsonObject[] = body.resources ?? [];
      const found = resources.find((one) => one.kind === kind && !String(one.name).includes("/"));
      if (!isObject(found)) throw new Error(`${kind} in ${apiVersion} is not served`);
      known = { path: String(found.name), isNamespaced: found.namespaced === true };
      this.#plurals.set(`${apiVersion}/${kind}`, known);
    }
    return { path: [root, known.path], isNamespaced: known.isNamespaced };
  }
}
