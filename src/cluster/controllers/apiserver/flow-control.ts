import { isDeepStrictEqual } from "node:util";
import { isObject, type JsonObject, type KubeObject } from "../../../base/api/object.ts";
import { parseBool } from "../../../base/go/parse-bool.ts";
import { cloneJson } from "../../../base/util/clone.ts";
import { runTogether } from "../../../base/util/run-together.ts";
import { WorkQueue } from "../../../base/util/work-queue.ts";
import type { ServedResource } from "../../../resources/model/catalog.ts";
import { storedResource } from "../../../resources/model/stored-resource.ts";
import type { ObjectClient } from "../../../resources/object-client.ts";
import { StoredIndex } from "../../../resources/read/stored-index.ts";
import type { Resources } from "../../../resources/resources.ts";
import { readObject } from "../../../resources/stored-kinds.ts";
import { printTime } from "../../../resources/write/metadata.ts";
import type { FlowObjects } from "../../../serving/fairness/fairness.ts";
import type { Entry } from "../../../storage/store.ts";
import { type Controller, type ControllerContext, type ReportProblem, unlessCode } from "../shared/controller.ts";

/** The mandatory and the suggested objects of API priority and fairness. */
export interface KeptObjects {
  readonly mandatory: FlowObjects;
  readonly suggested: FlowObjects;
}

const NAME = "flow-control";
const GROUP = "flowcontrol.apiserver.k8s.io";
const PRODUCER = "api-priority-and-fairness-config-producer-v1";
const CONSUMER = "api-priority-and-fairness-config-consumer-v1";
const AUTO_UPDATE = "apf.kubernetes.io/autoupdate-spec";
const EXEMPT = "exempt";
const ENSURE_INTERVAL_MS = 60_000;

/**
 * Keeps the mandatory and suggested FlowSchemas and PriorityLevelConfigurations up to date, and sets the condition
 * Dangling of FlowSchemas.
 */
export class FlowControl implements Controller {
  readonly name = NAME;
  readonly #resources: Resources;
  readonly #client: ObjectClient;
  readonly #kept: KeptObjects;
  readonly #report: ReportProblem;
  readonly #levels: ServedResource;
  readonly #schemas: ServedResource;

  constructor({ resources, client, report }: ControllerContext, kept: KeptObjects) {
    this.#resources = resources;
    this.#client = client;
    this.#kept = kept;
    this.#report = report;
    this.#levels = storedResource(resources.catalog, GROUP, "prioritylevelconfigurations");
    this.#schemas = storedResource(resources.catalog, GROUP, "flowschemas");
  }

  /** Creates and repairs all objects once. Several servers may do so concurrently. */
  async prepare(): Promise<void> {
    await this.#ensure();
    await this.#judgeReferences(await this.#list(this.#levels), await this.#list(this.#schemas));
  }

  async run(signal: AbortSignal): Promise<void> {
    const { store, clock } = this.#resources;
    const ended = new AbortController();
    const either = AbortSignal.any([signal, ended.signal]);
    const queue = new WorkQueue<"ensure" | "judge">({
      clock,
      concurrency: 1,
      work: async (task) => {
        if (task === "judge") {
          // The index may know a FlowSchema before the priority level that was created for it.
          const revision = await store.revision();
          await Promise.all([levels.waitFor(revision, either), schemas.waitFor(revision, either)]);
          return this.#judgeReferences([...levels.items.values()], [...schemas.items.values()]);
        }
        await this.#ensure();
        queue.addAfter("ensure", ENSURE_INTERVAL_MS);
      },
      onError: (error) => {
        if (!either.aborted) this.#report(NAME, error);
      },
    });
    const levels = this.#index(this.#levels, () => queue.add("judge"));
    const schemas = this.#index(this.#schemas, () => queue.add("judge"));
    queue.addAfter("ensure", ENSURE_INTERVAL_MS);
    try {
      await runTogether([(inner) => levels.run(inner), (inner) => schemas.run(inner)], signal);
    } finally {
      ended.abort();
      await queue.close();
    }
  }

  async #ensure(): Promise<void> {
    const { suggested, mandatory } = this.#kept;
    for (const kept of [suggested, mandatory]) {
      const isMandatory = kept === mandatory;
      for (const object of kept.levels) await this.#ensureOne(this.#levels, object, isMandatory);
      for (const object of kept.schemas) await this.#ensureOne(this.#schemas, object, isMandatory);
    }
    await this.#removeSurplus(this.#schemas, [...mandatory.schemas, ...suggested.schemas]);
    await this.#removeSurplus(this.#levels, [...mandatory.levels, ...suggested.levels]);
  }

  async #ensureOne(resource: ServedResource, wanted: KubeObject, isMandatory: boolean): Promise<void> {
    const key = { namespace: "", name: wanted.metadata.name ?? "" };
    const { store, keys, codec } = this.#resources;
    const entry = await store.get(keys.key(resource.definition, key));
    const current = entry && readObject(codec, entry);
    const options = { fieldManager: PRODUCER };
    if (!current) {
      await this.#client.create(resource, cloneJson(wanted), options).catch(unlessCode(409));
      return;
    }
    const revised = revise(current, wanted, isMandatory);
    if (isDeepStrictEqual(revised, current)) return;
    await this.#client.update(resource, cloneJson(revised), options).catch(unlessCode(404, 409));
  }

  /** Removes objects of an earlier release that still have apf.kubernetes.io/autoupdate-spec true. */
  async #removeSurplus(resource: ServedResource, kept: readonly KubeObject[]): Promise<void> {
    const names = new Set(kept.map(({ metadata }) => metadata.name));
    for (const { metadata } of await this.#list(resource)) {
      if (names.has(metadata.name) || parseBool(metadata.annotations?.[AUTO_UPDATE] ?? "") !== true) continue;
      const key = { namespace: "", name: metadata.name ?? "" };
      await this.#client.delete(resource, key).catch(unlessCode(404));
    }
  }

  /** Sets the condition Dangling of every FlowSchema. */
  async #judgeReferences(levels: readonly KubeObject[], schemas: readonly KubeObject[]): Promise<void> {
    // A mandatory level counts even if its object is missing.
    const names = new Set([...levels, ...this.#kept.mandatory.levels].map(({ metadata }) => metadata.name));
    for (const schema of schemas) {
      const level = levelOf(schema);
      const wanted = conditionOf(level, names.has(level));
      if (hasCondition(schema, wanted)) continue;
      const lastTransitionTime = printTime(this.#resources.clock.now());
      const applied: KubeObject = {
        kind: schema.kind,
        apiVersion: this.#schemas.apiVersion,
        metadata: { name: schema.metadata.name },
        status: { conditions: [{ ...wanted, lastTransitionTime }] },
      };
      const options = { fieldManager: CONSUMER, subresource: "status" };
      await this.#client.apply(this.#schemas, applied, options).catch(unlessCode(404));
    }
  }

  #index({ definition }: ServedResource, changed: () => void): StoredIndex<KubeObject> {
    const { store, keys, codec } = this.#resources;
    const read = (entry: Entry) => readObject(codec, entry);
    return new StoredIndex({ store, prefix: keys.prefix(definition), read, changed });
  }

  async #list(resource: ServedResource): Promise<KubeObject[]> {
    const { store, keys, codec } = this.#resources;
    const { entries } = await store.list(keys.prefix(resource.definition));
    return entries.flatMap((entry) => readObject(codec, entry) ?? []);
  }
}

/**
 * The object as it should be. Mandatory objects always get the wanted spec, suggested ones unless autoupdate-spec is
 * false.
 */
function revise(current: KubeObject, wanted: KubeObject, isMandatory: boolean): KubeObject {
  const { annotations } = current.metadata;
  const choice = parseBool(annotations?.[AUTO_UPDATE] ?? "");
  const updates = isMandatory || (choice ?? current.metadata.generation === 1);
  const isChanged = updates && !isEqual(current, wanted);
  const spec = isChanged ? wanted.spec : current.spec;
  if (choice === updates) return { ...current, spec };
  const metadata = { ...current.metadata, annotations: { ...annotations, [AUTO_UPDATE]: String(updates) } };
  return { ...current, metadata, spec };
}

/** Whether the object has the wanted spec. Users may change `spec.exempt` of the exempt level. */
function isEqual({ spec: is }: KubeObject, { metadata, spec: wanted }: KubeObject): boolean {
  if (metadata.name !== EXEMPT || !isObject(is) || !isObject(is.exempt) || !isObject(wanted)) {
    return isDeepStrictEqual(is, wanted);
  }
  return isDeepStrictEqual({ ...is, exempt: wanted.exempt }, wanted);
}

function levelOf({ spec }: KubeObject): string {
  const reference = isObject(spec) ? spec.priorityLevelConfiguration : undefined;
  return isObject(reference) && typeof reference.name === "string" ? reference.name : "";
}

function conditionOf(level: string, isFound: boolean): JsonObject {
  const text = `This FlowSchema references the PriorityLevelConfiguration object named ${JSON.stringify(level)}`;
  if (isFound) return { type: "Dangling", status: "False", reason: "Found", message: `${text} and it exists` };
  const message = `${text} but there is no such object`;
  return { type: "Dangling", status: "True", reason: "NotFound", message };
}

function hasCondition({ status }: KubeObject, wanted: JsonObject): boolean {
  const conditions = isObject(status) && Array.isArray(status.conditions) ? status.conditions : [];
  return conditions.some(
    (one) => isObject(one) && Object.entries(wanted).every(([member, value]) => one[member] === value),
  );
}
