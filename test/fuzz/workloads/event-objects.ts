import type { KubeObject } from "../../../src/base/api/object.ts";

/** Event of core/v1. */
export interface EventObject extends KubeObject {
  readonly involvedObject: { readonly kind: string; readonly name: string; readonly namespace?: string };
  readonly type: string;
  readonly reason: string;
  readonly message: string;
  readonly count: number;
  readonly source: { readonly component?: string };
}

/** An Event with its defaults. */
export function asEvent(object: KubeObject): EventObject {
  return { count: 1, source: {}, ...object } as unknown as EventObject;
}
