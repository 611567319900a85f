import { ApiError, badRequest } from "../../../base/api/api-error.ts";
import type { ApiRequest } from "../../../base/api/call.ts";
import type { ConnectReply } from "../../../base/api/channel.ts";
import { isObject, type Json } from "../../../base/api/object.ts";
import type { ApiReply, TableShape } from "../../../base/api/reply.ts";
import { printJson } from "../json/json.ts";
import { negotiateOutput, type OutputForm, type OutputOffer } from "../negotiation/negotiate.ts";
import type { SchemaOf } from "../protobuf/envelope.ts";
import { writeProtobufList } from "../protobuf/lists.ts";
import { encodeValue, encodeView, messageOf, partialMessage, requireSchema } from "../protobuf/objects.ts";
import { printYaml } from "../yaml/yaml-print.ts";
import { acceptsGzip, COMPRESS_ABOVE_BYTES, compress } from "./compress.ts";
import type { EncodedReply } from "./encoded-reply.ts";
import { type ListShape, writeList } from "./list-writer.ts";
import { type FormContext, listShape, tableOptions, transformObject } from "./reply-forms.ts";
import { printWarnings } from "./warnings.ts";
import { frameEvents } from "./watch-frames.ts";

/** Context of the encoder besides the response itself. */
export interface ReplyContext extends FormContext {
  /** Texts for `Warning` headers. */
  readonly warnings: readonly string[];
  /** Sent as `Audit-Id`. */
  readonly auditId: string;
}

/** The forms that a response of this type offers. Can also be negotiated before the verb runs. */
export function offerOf(
  reply: Pick<ApiReply, "type"> & { table?: TableShape },
  isCustom: boolean,
  isProtobufOffered = true,
): OutputOffer {
  const hasTable = reply.table !== undefined;
  const hasProtobuf = isProtobufOffered && (isCustom ? "views" : true);
  switch (reply.type) {
    case "object":
      return { route: isCustom ? undefined : "object", hasTransforms: true, hasTable, hasProtobuf };
    case "list":
      return { route: isCustom ? undefined : "list", hasTransforms: true, hasTable, hasProtobuf };
    case "watch":
      return { route: isCustom ? undefined : "list", hasTransforms: true, hasTable, hasProtobuf, isWatch: true };
    case "status":
      // Compat: a Status may be requested with any `as=` in Accept, and is sent unchanged.
      return { hasTransforms: true, hasTable: true, hasProtobuf };
    default:
      return { route: isCustom ? undefined : "object", hasProtobuf };
  }
}

/**
 * Encodes the response of a verb in the form that the client requested. Returns a 406 if that is not possible. Never
 * throws an ApiError.
 */
export function encodeReply(request: ApiRequest, reply: ApiReply, context: ReplyContext): EncodedReply {
  if (reply.type === "raw") {
    return finish(request, { status: reply.code, headers: { ...reply.headers }, body: reply.body }, context);
  }
  if (reply.type === "stream") {
    const { code: status, headers, body } = reply;
    return finish(request, { status, headers: { ...headers }, body, isLongRunning: true, isOpaque: true }, context);
  }
  if (reply.type === "encoded") return { status: reply.code, headers: { ...reply.headers }, body: reply.body };
  if (reply.type === "connect") return encodeConnect(request, reply, context);
  try {
    const offer = offerOf(reply, context.isCustom ?? false, context.schemaOf !== undefined);
    const form = negotiateOutput(request, offer);
    return finish(request, encodeForm(request, reply, form, context), context);
  } catch (error) {
    // Ends the source of a rejected watch.
    if (reply.type === "watch")
      reply.events[Symbol.asyncIterator]()
        .return?.()
        .catch(() => {});
    if (error instanceof ApiError) return encodeError(request, error, context);
    throw error;
  }
}

function encodeConnect(request: ApiRequest, connect: ConnectReply, context: ReplyContext): EncodedReply {
  const protocol = connect.over === "websocket" ? "websocket" : connect.protocol.toLowerCase();
  // Compat: the text of UpgradeAwareHandler.
  if (request.upgrade !== protocol) return encodeError(request, badRequest("Upgrade request required"), context);
  return finish(request, { status: 101, headers: {}, body: "", isLongRunning: true, connect }, context);
}

/** Encodes an error. If the client accepts none of the offered types, it is indented JSON. */
export function encodeError(request: ApiRequest, error: ApiError, context: Omit<ReplyContext, "now">): EncodedReply {
  const { status, code } = error;
  const headers: EncodedReply["headers"] = {};
  const retryAfterSeconds = status.details?.retryAfterSeconds ?? 0;
  if (retryAfterSeconds > 0) headers["retry-after"] = String(retryAfterSeconds);
  let form: OutputForm;
  try {
    form = negotiateOutput(request, { hasProtobuf: context.schemaOf !== undefined });
  } catch {
    form = { mediaType: "application/json", isPretty: true };
  }
  return finish(
    request,
    { ...printValue(status, form, code, context), headers: { "content-type": form.mediaType, ...headers } },
    context,
  );
}

function finish(request: ApiRequest, reply: EncodedReply, context: Omit<ReplyContext, "now">): EncodedReply {
  const { headers, body } = reply;
  headers["audit-id"] = context.auditId;
  headers["cache-control"] ??= "no-cache, private";
  if (context.warnings.length > 0) {
    const warnings = printWarnings(context.warnings);
    if (warnings.length > 0) headers.warning = warnings;
  }
  const isLarge = !reply.isLongRunning && (isStream(body) || body.length > COMPRESS_ABOVE_BYTES);
  const isCompressible = isLarge && headers["content-encoding"] === undefined && acceptsGzip(request.headers);
  return isCompressible ? compress(reply) : reply;
}

function isStream(body: EncodedReply["body"]): body is AsyncIterable<Uint8Array> {
  return typeof body !== "string" && !(body instanceof Uint8Array);
}

const OPAQUE: ReadonlySet<ApiReply["type"]> = new Set(["raw", "encoded", "stream", "connect"]);

function isNegotiated(reply: ApiReply): reply is Negotiated {
  return !OPAQUE.has(reply.type);
}

/** The body of a response as compact JSON, with the requested transform. Undefined if it is not a single value. */
export function jsonBody(
  request: ApiRequest,
  reply: ApiReply,
  context: ReplyContext,
): EncodedReply["body"] | undefined {
  if (!isNegotiated(reply) || reply.type === "watch") return undefined;
  try {
    const form = negotiateOutput(request, offerOf(reply, context.isCustom ?? false, context.schemaOf !== undefined));
    return encodeForm(request, reply, { ...form, mediaType: "application/json", isPretty: false }, context).body;
  } catch (error) {
    if (error instanceof ApiError) return undefined;
    throw error;
  }
}

type Negotiated = Exclude<ApiReply, { readonly type: "raw" | "encoded" | "stream" | "connect" }>;

function encodeForm(request: ApiRequest, reply: Negotiated, form: OutputForm, context: ReplyContext): EncodedReply {
  switch (reply.type) {
    case "object":
      return encodeObject(request, reply, form, context);
    case "list": {
      const shape = listShape(request, reply, form, context);
      const body = isProtobuf(form) ? protobufList(shape, form, context) : writeList(shape, form, COMPRESS_ABOVE_BYTES);
      return { status: 200, headers: headersOf(form), body };
    }
    case "watch":
      return encodeWatch(request, reply, form, context);
    case "status": {
      const { status } = reply;
      return printValue(status, form, status.code ?? (status.status === "Failure" ? 500 : 200), context);
    }
    case "document": {
      const encoded = printValue(reply.value, form, reply.code, context);
      return { ...encoded, headers: { ...encoded.headers, ...reply.headers } };
    }
  }
}

function headersOf(form: OutputForm): EncodedReply["headers"] {
  return { "content-type": form.mediaType };
}

function isProtobuf(form: OutputForm): boolean {
  return form.mediaType === "application/vnd.kubernetes.protobuf";
}

type MessageContext = Pick<FormContext, "schemaOf">;

function schemasOf({ schemaOf }: MessageContext): SchemaOf {
  return schemaOf ?? (() => undefined);
}

function printValue(value: Json, form: OutputForm, status: number, context: MessageContext): EncodedReply {
  const headers = headersOf(form);
  if (isProtobuf(form)) return { status, headers, body: encodeValue(value, schemasOf(context)) };
  const body = form.mediaType === "application/yaml" ? printYaml(value) : printJson(value, form.isPretty);
  return { status, headers, body };
}

function protobufList(shape: ListShape, form: OutputForm, context: MessageContext): EncodedReply["body"] {
  const { kind, apiVersion, metadata } = shape.head;
  const type = { kind: String(kind), apiVersion: String(apiVersion) };
  const list = {
    ...{ type, schema: requireSchema(schemasOf(context), type), views: shape.views },
    metadata: isObject(metadata) ? metadata : {},
    message: form.transform === undefined ? messageOf : partialMessage,
  };
  return writeProtobufList(list, COMPRESS_ABOVE_BYTES);
}

type ObjectReply = Extract<ApiReply, { readonly type: "object" }>;
type WatchReply = Extract<ApiReply, { readonly type: "watch" }>;

const LINE_FEED = 0x0a;

function encodeObject(request: ApiRequest, reply: ObjectReply, form: OutputForm, context: ReplyContext): EncodedReply {
  const { view, code } = reply;
  const { transform } = form;
  if (transform !== undefined) {
    return printValue(transformObject(request, reply, transform, context), form, code, context);
  }
  if (isProtobuf(form)) return { status: code, headers: headersOf(form), body: encodeView(view, schemasOf(context)) };
  if (form.isPretty || form.mediaType !== "application/json") return printValue(view.object, form, code, context);
  return { status: code, headers: headersOf(form), body: view.jsonLine?.() ?? withLineFeed(view.json()) };
}

function withLineFeed(json: Uint8Array): Uint8Array {
  const line = Buffer.allocUnsafe(json.length + 1);
  line.set(json);
  line[json.length] = LINE_FEED;
  return line;
}

function encodeWatch(request: ApiRequest, reply: WatchReply, form: OutputForm, context: ReplyContext): EncodedReply {
  const { transform } = form;
  const options = transform?.kind === "Table" ? tableOptions(request, transform, context) : undefined;
  const table = options && reply.table ? { shape: reply.table, options } : undefined;
  return {
    status: 200,
    headers: isProtobuf(form) ? { "content-type": `${form.mediaType};stream=watch` } : headersOf(form),
    body: frameEvents(reply.events, {
      ...{ transform, table, now: context.now, sent: reply.sent },
      schemaOf: isProtobuf(form) ? schemasOf(context) : undefined,
    }),
    isLongRunning: true,
  };
}
