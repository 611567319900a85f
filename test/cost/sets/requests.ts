import type { Json, JsonObject } from "../../../src/base/api/object.ts";
import { printYaml } from "../../../src/data/encoding/yaml/yaml-print.ts";
import { TABLE } from "../../fuzz/findings.ts";
import { CONTENT_TYPES } from "../../fuzz/operations.ts";
import type { Random } from "../../fuzz/random.ts";
import type { CostlyRequest } from "../server.ts";
import { type CostlyDefinition, type Focus, GROUP } from "./definitions.ts";
import { costlyText, upTo } from "./fields.ts";

/** A request, and what it does in words. */
export interface NamedRequest {
  readonly name: string;
  readonly costly: CostlyRequest;
}

export const REQUESTS_PER_SET = 10;
/** Bodies of ordinary users are smaller than this. */
export const MAX_BODY = 64 * 1024;
const BASE = "base-0";

/** The requests that ordinary users send about the objects of a definition. */
export class RequestMaker {
  readonly #random: Random;
  readonly #definition: CostlyDefinition;

  constructor(random: Random, definition: CostlyDefinition) {
    this.#random = random;
    this.#definition = definition;
  }

  /** Objects that are stored before policies and webhooks exist. Only fields that every value fits. */
  seeds(focus: Focus): CostlyRequest[] {
    const random = this.#random;
    const isMany = focus === "columns" || focus === "selectors";
    const count = isMany ? upTo(random, 40) : 1 + random.below(3);
    const bytes = upTo(random, 50_000);
    return Array.from({ length: count }, (_, index) => {
      const spec: JsonObject = {
        name: `n${index}`,
        size: index,
        free: this.#value("free", bytes),
        ...(random.chance(0.5) && { texts: this.#value("texts", upTo(random, 5000)) }),
      };
      return { method: "POST", path: this.#path(), body: json(this.#object(`base-${index}`, spec, this.#labels())) };
    });
  }

  /** Ten requests. */
  requests(focus: Focus): NamedRequest[] {
    const random = this.#random;
    const readable = focus === "columns" || focus === "selectors" ? 0.7 : 0.25;
    return Array.from({ length: REQUESTS_PER_SET }, () => (random.chance(readable) ? this.#read() : this.#write()));
  }

  #write(): NamedRequest {
    const random = this.#random;
    const { hasStatus } = this.#definition;
    const body = this.#object(BASE, this.#spec(), random.chance(0.3) ? this.#labels() : {});
    const query = [
      ...(random.chance(0.6) ? ["dryRun=All"] : []),
      ...(random.chance(0.3) ? [`fieldValidation=${random.pick(["Strict", "Warn", "Ignore"])}`] : []),
      "fieldManager=sets",
    ].join("&");
    const target = `${this.#path()}/${BASE}${hasStatus && random.chance(0.15) ? "/status" : ""}?${query}`;
    const patch = (name: string, type: keyof typeof CONTENT_TYPES, value: Json, more = ""): NamedRequest => ({
      name,
      costly: {
        method: "PATCH",
        path: `${target}${more}`,
        headers: { "content-type": CONTENT_TYPES[type] },
        body: json(value),
      },
    });
    switch (random.below(12)) {
      case 0:
      case 1:
      case 2:
        return { name: "create", costly: this.#create(body, `?${query}`, "json") };
      case 3:
        return { name: "create in YAML", costly: this.#create(body, `?${query}`, "yaml") };
      case 4:
      case 5:
        return { name: "update", costly: { method: "PUT", path: target, body: json(body) } };
      case 6:
        return patch("JSON patch", "json", this.#operations(body.spec as JsonObject));
      case 7:
        return patch("merge patch", "merge", { spec: body.spec as Json });
      case 8:
        return patch("strategic merge patch", "strategic", { spec: body.spec as Json });
      case 9:
      case 10:
        return patch("apply", "apply", body, `&force=${random.chance(0.7)}`);
      default:
        return this.#deletion();
    }
  }

  #create(body: JsonObject, query: string, format: "json" | "yaml"): CostlyRequest {
    const made = { ...body, metadata: { ...(body.metadata as JsonObject), name: undefined, generateName: "made-" } };
    const bytes = format === "yaml" ? Buffer.from(printYaml(JSON.parse(JSON.stringify(made)))) : json(made);
    const isSmall = bytes.length < MAX_BODY;
    return {
      method: "POST",
      path: `${this.#path()}${query}`,
      headers: { "content-type": `application/${isSmall ? format : "json"}` },
      body: isSmall ? bytes : json(made),
    };
  }

  #operations(spec: JsonObject): Json {
    const random = this.#random;
    const entries = Object.entries(spec);
    const adds = entries.map(([name, value]) => ({ op: "add", path: `/spec/${name}`, value: value as Json }));
    const count = upTo(random, 400);
    const small = random.pick<(index: number) => JsonObject>([
      (index) => ({ op: "add", path: `/spec/free/k${index}`, value: {} }),
      () => ({ op: "test", path: "/spec", value: { a: 1 } }),
      (index) => ({ op: "copy", from: "/spec/free", path: `/spec/free/c${index}` }),
      () => ({ op: "add", path: "/spec/free/a", value: [] }),
    ]);
    return random.chance(0.5) ? adds : Array.from({ length: count }, (_, index) => small(index));
  }

  #deletion(): NamedRequest {
    const path = this.#path();
    if (this.#random.chance(0.5))
      return { name: "delete", costly: { method: "DELETE", path: `${path}/${BASE}?dryRun=All` } };
    const query = `dryRun=All&labelSelector=${encodeURIComponent(this.#labelSelector())}`;
    const target = this.#random.chance(0.5) ? `${path}?${query}` : `${path}?dryRun=All`;
    return { name: "delete collection", costly: { method: "DELETE", path: target } };
  }

  #read(): NamedRequest {
    const random = this.#random;
    const path = this.#path(random.pick(this.#definition.versions));
    const form = random.pick<readonly [string, string]>([
      ["Table", TABLE],
      ["Table", TABLE],
      ["Table", `${TABLE}, application/json`],
      ["Table in YAML", "application/yaml;as=Table;v=v1;g=meta.k8s.io"],
      ["JSON", "application/json"],
      ["YAML", "application/yaml"],
      ["PartialObjectMetadata", "application/json;as=PartialObjectMetadataList;v=v1;g=meta.k8s.io"],
    ]);
    const [shown, accept] = form;
    const get = (name: string, target: string, more: Partial<CostlyRequest> = {}): NamedRequest => ({
      name: `${name} as ${shown}`,
      costly: { method: "GET", path: target, headers: { accept }, ...more },
    });
    const include = random.chance(0.3) ? `&includeObject=${random.pick(["Object", "None"])}` : "";
    switch (random.below(6)) {
      case 0:
        return get("get", `${path}/${BASE}?pretty=${random.chance(0.1)}${include}`, {
          headers: { accept: accept.replace("MetadataList", "Metadata") },
        });
      case 1:
        return get("list by labels", `${path}?labelSelector=${encodeURIComponent(this.#labelSelector())}${include}`);
      case 2:
        return get("list by fields", `${path}?fieldSelector=${encodeURIComponent(this.#fieldSelector())}${include}`);
      case 3: {
        const initial = "watch=true&sendInitialEvents=true&resourceVersionMatch=NotOlderThan&allowWatchBookmarks=true";
        const costly: CostlyRequest = {
          method: "GET",
          path: `${path}?${initial}&timeoutSeconds=60${include}`,
          headers: { accept: random.chance(0.8) ? TABLE : "application/json" },
          until: "initial-events-end",
        };
        return { name: `watch as ${costly.headers?.accept === TABLE ? "Table" : "JSON"}`, costly };
      }
      default:
        return get("list", `${path}?limit=${random.pick([0, 500])}${include}`);
    }
  }

  #labels(): JsonObject {
    const random = this.#random;
    if (random.chance(0.5)) return { a: random.pick(["1", "2"]) };
    return Object.fromEntries(Array.from({ length: upTo(random, 500) }, (_, index) => [`l${index}`, `v${index % 7}`]));
  }

  #labelSelector(): string {
    const random = this.#random;
    const values = Array.from({ length: upTo(random, 3000) }, (_, index) => `v${index}`).join();
    const requirements = Array.from({ length: upTo(random, 1000) }, (_, index) => `l${index % 500}!=x`).join();
    return random.pick(["a=1", `l0 in (${values})`, `l1 notin (${values})`, requirements, "!zz,a"]);
  }

  #fieldSelector(): string {
    const random = this.#random;
    const names = ["metadata.name", ...this.#definition.selectable.map((name) => `spec.${name}`)];
    return Array.from({ length: upTo(random, 500) }, (_, index) => `${random.pick(names)}!=x${index}`).join();
  }

  #value(name: string, bytes: number): Json {
    return this.#definition.fields.get(name)?.value(this.#random, bytes) ?? null;
  }

  /** A spec of random fields that together fit a small body. */
  #spec(): JsonObject {
    const random = this.#random;
    const names = [...this.#definition.fields.keys()];
    const chosen = random.chance(0.5) ? [random.pick(names)] : names.filter(() => random.chance(0.5));
    const bytes = random.chance(0.5) ? MAX_BODY * 0.7 : upTo(random, MAX_BODY * 0.7);
    const spec: JsonObject = { name: costlyText(random, 5), size: random.below(9) };
    let left = MAX_BODY * 0.8;
    for (const name of new Set([...chosen, ...(random.chance(0.6) ? ["texts", "free"] : [])])) {
      const value = this.#value(name, bytes / Math.max(1, chosen.length));
      const size = Buffer.byteLength(JSON.stringify(value));
      if (size > left) continue;
      left -= size;
      spec[name] = value;
    }
    return spec;
  }

  #object(name: string, spec: JsonObject, labels: JsonObject): JsonObject {
    const { kind } = this.#definition;
    return { apiVersion: `${GROUP}/v1`, kind, metadata: { name, labels }, spec };
  }

  #path(version = "v1"): string {
    return `/apis/${GROUP}/${version}/namespaces/fuzz/${this.#definition.plural}`;
  }
}

const json = (value: unknown): Buffer => Buffer.from(JSON.stringify(value));
