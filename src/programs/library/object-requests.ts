import type { JsonObject, KubeObject } from "../../base/api/object.ts";
import { readReceived, type Send } from "../../serving/http/fetch.ts";

/** The server rejected an object of a manifest, or a status. */
export class ApplyError extends Error {
  /** The Status that the server returned. */
  readonly status: JsonObject;
  readonly code: number;

  constructor(what: string, code: number, status: JsonObject) {
    super(`${what} failed with ${code}: ${status.message}`);
    this.name = "ApplyError";
    this.code = code;
    this.status = status;
  }
}

/** A request for one object. */
export interface ObjectRequest {
  /** What to do, for the error: "applying Pod web". */
  readonly what: string;
  readonly path: string;
  /** Optional. If omitted, the object is read. */
  readonly patch?: { readonly type: string; readonly body: object };
}

/** Sends a request and returns the object of the response. Throws ApplyError if the server rejects it. */
export type RequestObject = (request: ObjectRequest) => Promise<KubeObject>;

/** Requests objects of the server at `url`. */
export function objectRequests(send: Send, url: string): RequestObject {
  return async ({ what, path, patch }) => {
    const { status, body } = await send({
      method: patch ? "PATCH" : "GET",
      url: new URL(path, url),
      headers: patch ? { "content-type": patch.type } : {},
      body: async () => Buffer.from(patch ? JSON.stringify(patch.body) : ""),
      signal: undefined,
    });
    const object = JSON.parse((await readReceived(body)).toString()) as KubeObject;
    if (status < 300) return object;
    throw new ApplyError(what, status, object as JsonObject);
  };
}
