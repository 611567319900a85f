import type { JsonObject } from "../../../base/api/object.ts";
import type { ObjectView, ViewList } from "../../../base/api/reply.ts";
import { FilledBody, type Filler } from "./filled-body.ts";

/** A list whose items are not transformed. */
export interface CopiedList {
  /** Members before the items. */
  readonly head: JsonObject;
  readonly arrayName: string;
  readonly views: ViewList;
}

const LIST_END = Buffer.from("]}\n");
const COMMA = 0x2c;

/**
 * Encodes a list as compact JSON, copying cached items: one buffer if it is not larger than `maxBytes`, otherwise a
 * body that fills buffers.
 */
export function copyList(list: CopiedList, maxBytes: number): Uint8Array | FilledBody {
  const { head, arrayName, views } = list;
  const start = Buffer.from(`${JSON.stringify(head).slice(0, -1)},"${arrayName}":[`);
  const copier = new ListCopier(start, views);
  const size = measureUpTo(maxBytes, start, views);
  if (size === undefined) return new FilledBody(copier);
  const whole = Buffer.allocUnsafe(size);
  for (let at = 0; at < size; ) at += copier.fill(whole.subarray(at));
  return whole;
}

/** The size of a list. Undefined if it is larger than `maxBytes`. */
function measureUpTo(maxBytes: number, start: Uint8Array, views: ViewList): number | undefined {
  let size = start.length + Math.max(0, views.length - 1) + LIST_END.length;
  for (const view of views) {
    if (size > maxBytes) return undefined;
    size += view.itemSize();
  }
  return size > maxBytes ? undefined : size;
}

/** The state of copying a list. */
class ListCopier implements Filler {
  readonly #views: ViewList;
  #next = 0;
  #hasEnd = false;
  /** Bytes to write before the next item. May be empty. */
  #held: Uint8Array;

  constructor(start: Uint8Array, views: ViewList) {
    this.#held = start;
    this.#views = views;
  }

  get isDone(): boolean {
    return this.#hasEnd && this.#held.length === 0;
  }

  /** Writes as many whole items as fit, or a part of an item that is larger than the target. */
  fill(target: Buffer): number {
    const views = this.#views;
    let at = this.#release(target, 0);
    while (this.#next < views.length && this.#held.length === 0) {
      const view = views.at(this.#next) as ObjectView;
      const hasComma = this.#next > 0;
      if (hasComma) target[at] = COMMA;
      const end = view.writeItem(target, hasComma ? at + 1 : at);
      if (end >= 0) at = end;
      else {
        if (at > 0) return at;
        const item = view.itemJson();
        this.#held = hasComma ? Buffer.concat([Uint8Array.of(COMMA), item]) : item;
        at = this.#release(target, at);
      }
      this.#next++;
    }
    if (this.#next < views.length || this.#held.length > 0 || this.#hasEnd) return at;
    this.#hasEnd = true;
    this.#held = LIST_END;
    return this.#release(target, at);
  }

  #release(target: Uint8Array, at: number): number {
    const held = this.#held;
    if (held.length === 0) return at;
    const part = held.subarray(0, target.length - at);
    target.set(part, at);
    this.#held = held.subarray(part.length);
    return at + part.length;
  }
}
