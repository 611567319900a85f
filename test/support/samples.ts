import { readdirSync, readFileSync } from "node:fs";
import path from "node:path";

/** One object of a kind as a client would create it, from the golden scenarios. */
export interface Sample {
  /** Name of its scenario. */
  readonly scenario: string;
  /** The path to create it under, with the namespace. */
  readonly path: string;
  readonly isNamespaced: boolean;
  /** Plural, version and group in the form of kubectl: `leases.v1.coordination.k8s.io`. */
  readonly resource: string;
  readonly body: { apiVersion: string; kind: string; metadata: { name: string } };
}

interface Scenario {
  readonly name: string;
  readonly steps: readonly { method: string; path: string; query?: unknown; body?: unknown }[];
}

const folder = path.join(import.meta.dirname, "..", "golden", "scenarios");

/**
 * One object of every kind of the specification (`kind-*` scenarios), for one namespace, with names that contain `id`.
 */
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
