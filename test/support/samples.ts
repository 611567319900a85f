import { readdirSync, readFileSync } from "node:fs";
import path from "node:path";

/** One object of a kind as a client would create it, taken from the golden scenarios. */
export interface Sample {
  /** Name of the scenario it comes from. */
  readonly scenario: string;
  /** Path that it is created under, with the namespace filled in. */
  readonly path: string;
  readonly isNamespaced: boolean;
  /** The plural with its version and group, as kubectl takes it: `leases.v1.coordination.k8s.io`. */
  readonly resource: string;
  readonly body: { apiVersion: string; kind: string; metadata: { name: string } };
}

interface Scenario {
  readonly name: string;
  readonly steps: readonly { method: string; path: string; query?: unknown; body?: unknown }[];
}

const folder = path.join(import.meta.dirname, "..", "golden", "scenarios");

/** One object of every kind of the specification (`kind-*` scenarios), for one namespace and with names that contain `id`. */
export function readSamples(namespace: string, id: string): Sample[] {
  const files = readdirSync(folder).filter((file) => file.startsWith("kind-"));
  return files.sort().map((file) => {
    const text = readFileSync(path.join(folder, file), "utf8")
      .replace(/\$\{ns\}/g, namespace)
      .replace(/\$\{id\}/g, id);
    const scenario = JSON.parse(text) as Scenario;
    const step = scenario.steps.find(
      (one) => one.method === "POST" && one.query === undefined && one.body !== undefined,
    );
    if (!step) throw new Error(`${file} creates nothing`);
    const body = step.body as Sample["body"];
    const [group, version] = body.apiVersion.includes("/") ? body.apiVersion.split("/") : ["", body.apiVersion];
    const plural = step.path.split("/").at(-1) ?? "";
    return {
      scenario: scenario.name,
      path: step.path,
      isNamespaced: step.path.includes("/namespaces/"),
      resource: group === "" ? plural : `${plural}.${version}.${group}`,
      body,
    };
  });
}
