import { plainError } from "../../base/api/api-error.ts";
import { type AnswerLimits, MAX_ANSWER_BYTES } from "../../base/api/body-limits.ts";
import { isObject, type Json, type JsonObject, type KubeObject, type ObjectMeta } from "../../base/api/object.ts";
import { quote } from "../../base/go/quote.ts";
import { cloneJson } from "../../base/util/clone.ts";
import { TooCostly } from "../../base/util/meter.ts";
import type { Random } from "../../base/util/random.ts";
import { countValues } from "../../data/encoding/json/json.ts";
import type { ResourceHooks } from "../../resources/model/definition.ts";
import type { CustomResourceDefinition, DefinitionConversion } from "../types/custom-resource-definition.ts";

/** `spec.conversion.webhook.clientConfig` of a definition. */
export type WebhookClientConfig = NonNullable<NonNullable<DefinitionConversion["webhook"]>["clientConfig"]>;

/**
 * Posts JSON to a webhook and resolves to the JSON response, within these limits. Rejects with the messages of upstream's
 * client.
 */
export type CallWebhook = (config: WebhookClientConfig, body: string, limits: AnswerLimits) => Promise<Json>;

/** Parts of the server that conversion uses. */
export interface ConversionContext {
  readonly call: CallWebhook;
  readonly random: Random;
}

/**
 * Maximum size of the objects in one ConversionReview; a larger object is sent alone. Responses are decoded on the event
 * loop, one at a time.
 */
const MAX_BATCH_BYTES = 256 * 1024;
/** A response has at most twice as many values as the request, and this many more. Differs: upstream has no limit. */
const MAX_MORE_VALUES = 20_000;
const GROUP = "apiextensions.k8s.io";
const KIND = "ConversionReview";

/** A problem with a response. */
class BadAnswer extends Error {}

/**
 * The converter of a definition with `conversion.strategy: Webhook`; undefined for other strategies. Upstream:
 * `webhookConverter`. Clients get its errors as 500.
 */
export function webhookConverter(
  { spec }: CustomResourceDefinition,
  context: ConversionContext,
): ResourceHooks["convertBatch"] {
  const { strategy, webhook } = spec?.conversion ?? {};
  const { clientConfig } = webhook ?? {};
  if (strategy !== "Webhook" || !clientConfig) return undefined;
  const known = (webhook?.conversionReviewVersions ?? []).find((version) => version === "v1" || version === "v1beta1");
  return async (objects, toApiVersion) => {
    if (known === undefined) throw plainError(500, "no supported conversion review versions");
    const converted: KubeObject[] = [];
    for (const batch of batchesOf(objects)) {
      for (const one of await convertBatch(context, clientConfig, known, batch, toApiVersion)) converted.push(one);
    }
    return converted;
  };
}

function* batchesOf(objects: readonly KubeObject[]): Generator<KubeObject[]> {
  let batch: KubeObject[] = [];
  let bytes = 0;
  for (const object of objects) {
    const size = JSON.stringify(object).length;
    if (batch.length > 0 && bytes + size > MAX_BATCH_BYTES) {
      yield batch;
      batch = [];
      bytes = 0;
    }
    batch.push(object);
    bytes += size;
  }
  if (batch.length > 0) yield batch;
}

async function convertBatch(
  { call, random }: ConversionContext,
  config: WebhookClientConfig,
  version: string,
  objects: readonly KubeObject[],
  toApiVersion: string,
): Promise<KubeObject[]> {
  const uid = random.uuid();
  const [first] = objects;
  const subject = `conversion webhook for ${first?.apiVersion}, Kind=${first?.kind}`;
  const request = { uid, desiredAPIVersion: toApiVersion, objects: [...objects] };
  const response = { uid: "", convertedObjects: null, result: { metadata: {} } };
  const review = { kind: KIND, apiVersion: `${GROUP}/${version}`, request, response };
  let converted: Json[];
  try {
    const body = JSON.stringify(review);
    const maxValues = 2 * countValues(Buffer.from(body)) + MAX_MORE_VALUES;
    converted = convertedObjects(await call(config, body, { maxBytes: MAX_ANSWER_BYTES, maxValues }), version, uid);
  } catch (error) {
    if (error instanceof TooCostly) throw error;
    throw plainError(500, `${subject} failed: ${error instanceof Error ? error.message : String(error)}`);
  }
  if (converted.length !== objects.length) {
    throw plainError(500, `${subject} returned ${converted.length} objects, expected ${objects.length}`);
  }
  return objects.map((object, index) => {
    try {
      return settleObject(object, converted[index] ?? null, toApiVersion);
    } catch (error) {
      if (!(error instanceof BadAnswer)) throw error;
      throw plainError(500, `${subject} returned invalid converted object at index ${index}: ${error.message}`);
    }
  });
}

/** Upstream: `getConvertedObjectsFromResponse`. */
function convertedObjects(answer: Json, version: string, uid: string): Json[] {
  const review = isObject(answer) ? answer : {};
  if (version === "v1" && (review.apiVersion !== `${GROUP}/v1` || review.kind !== KIND)) {
    const [group = "", got = ""] = typeof review.apiVersion === "string" ? review.apiVersion.split("/") : [];
    const shown = `${group}/${got}, Kind=${typeof review.kind === "string" ? review.kind : ""}`;
    throw new BadAnswer(`expected webhook response of ${GROUP}/v1, Kind=${KIND}, got ${shown}`);
  }
  const { response } = review;
  if (!isObject(response)) throw new BadAnswer("no response provided");
  if (version === "v1" && response.uid !== uid) {
    throw new BadAnswer(`expected response.uid=${quote(uid)}, got ${quote(String(response.uid ?? ""))}`);
  }
  const { status = "", message = "" } = isObject(response.result) ? response.result : {};
  if (status !== "Success") {
    throw new BadAnswer(message ? String(message) : `response.result.status was '${status}', not 'Success'`);
  }
  return Array.isArray(response.convertedObjects) ? response.convertedObjects : [];
}

/** One converted object with the metadata of the original. Upstream: `validateConvertedObject`, `restoreObjectMeta`. */
function settleObject(original: KubeObject, answer: Json, toApiVersion: string): KubeObject {
  const converted: JsonObject = isObject(answer) ? answer : {};
  if (converted.apiVersion !== toApiVersion) {
    throw new BadAnswer(`invalid groupVersion (expected ${toApiVersion}, received ${converted.apiVersion ?? ""})`);
  }
  if (converted.kind !== original.kind) {
    throw new BadAnswer(`invalid kind (expected ${original.kind}, received ${converted.kind ?? ""})`);
  }
  const { metadata } = converted;
  if (!isObject(metadata)) throw new BadAnswer("missing metadata in converted object");
  for (const [member, name] of [
    ["name", "name"],
    ["namespace", "namespace"],
    ["uid", "UID"],
  ] as const) {
    const [before, after] = [original.metadata[member] ?? "", metadata[member] ?? ""];
    if (before !== after) throw new BadAnswer(`must have the same ${name}: ${before} != ${after}`);
  }
  return { ...converted, kind: original.kind, apiVersion: toApiVersion, metadata: restored(original, metadata) };
}

function restored(original: KubeObject, answered: JsonObject): ObjectMeta {
  const metadata: ObjectMeta = cloneJson(original.metadata);
  for (const member of ["labels", "annotations"] as const) {
    const given = answered[member];
    if (given === undefined || given === null) delete metadata[member];
    else metadata[member] = textMap(given, member);
  }
  return metadata;
}

function textMap(value: Json, member: string): Record<string, string> {
  if (!isObject(value)) throw new BadAnswer(`invalid metadata.${member} of type ${typeof value} in converted object`);
  for (const [key, one] of Object.entries(value)) {
    if (typeof one !== "string") {
      throw new BadAnswer(`metadata.${member}[${key}] must be a string, but is ${typeof one} in converted object`);
    }
  }
  return value as Record<string, string>;
}
