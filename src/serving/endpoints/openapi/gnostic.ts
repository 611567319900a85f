import type { Json, JsonObject } from "../../../base/api/object.ts";
import { isObject } from "../../../base/api/object.ts";
import { WireWriter } from "../../../base/util/wire-writer.ts";
import { printAny } from "./gnostic-any.ts";

/** The type of a field: a scalar, any value as YAML text, or the name of a message of the model. */
export type FieldType = "text" | "flag" | "integer" | "double" | "any" | (string & {});

/** One field of a message. */
export interface Field {
  readonly number: number;
  readonly type: FieldType;
  readonly isRepeated: boolean;
  /** A scalar is omitted if it is zero and not repeated. */
  readonly isScalar: boolean;
}

const SCALARS: readonly string[] = ["text", "flag", "integer", "double"];

/** How a JSON value is encoded as a message. Exactly one of the three forms. */
export type Message =
  /** Members with their own field; `x-…` members; all other members as name-value pairs. */
  | {
      readonly members: Readonly<Record<string, Field>>;
      readonly extensions?: Field;
      readonly others?: Field;
    }
  /** One of several fields, depending on the value. Undefined: the message stays empty. */
  | { readonly choose: (value: Json) => Field | undefined }
  /** A list. A value that is not a list is treated as a list of one. */
  | { readonly items: Field };

/** All messages of one OpenAPI version, by name. */
export type Model = Readonly<Record<string, Message>>;

/** Parses a field such as `20 any[]`: field 20, repeated, any value. Throws if the text is invalid. */
export function field(text: string): Field {
  const [, number = "", type = "", brackets = ""] = /^(\d+) ([A-Za-z]+)((?:\[\])?)$/.exec(text) ?? [];
  if (number === "") throw new Error(`not a field: ${text}`);
  return { number: Number(number), type, isRepeated: brackets !== "", isScalar: SCALARS.includes(type) };
}

/** A message with members, each in the notation of `field`. */
export function record(
  members: Readonly<Record<string, string>>,
  more: { readonly extensions?: string; readonly others?: string } = {},
): Message {
  const fields = Object.entries(members).map(([name, text]) => [name, field(text)] as const);
  return {
    members: Object.fromEntries(fields),
    ...(more.extensions === undefined ? {} : { extensions: field(more.extensions) }),
    ...(more.others === undefined ? {} : { others: field(more.others) }),
  };
}

/** Encodes a field that contains one message, given in encoded pieces. */
export function frame(number: number, pieces: readonly Uint8Array[]): Uint8Array[] {
  const writer = new WireWriter();
  writer.uint32(pieces.reduce((length, piece) => length + piece.length, 0));
  writer.tag(number, 2);
  return [writer.finish(), ...pieces];
}

type Members = Extract<Message, { members: unknown }>;

/** A field of a message and the members it contains. */
interface Slot {
  readonly field: Field;
  /** The member it contains. Undefined: name-value pairs of all members for which `isOwn` is true. */
  readonly member?: string;
  isOwn(name: string): boolean;
}

/** Encodes `value` as the named message of the model. Members that the model does not define are omitted. */
export type Encode = (message: string, value: Json) => Uint8Array;

/** Creates an encoder for a model. */
export function gnosticEncoder(model: Model): Encode {
  const encoder = new Encoder(model);
  return (message, value) => encoder.encode(message, value);
}

class Encoder {
  readonly #model: Model;
  readonly #slots = new Map<string, readonly Slot[]>();
  readonly #writer = new WireWriter();

  constructor(model: Model) {
    this.#model = model;
  }

  encode(message: string, value: Json): Uint8Array {
    this.#writer.reset();
    this.#message(message, value);
    return this.#writer.finish();
  }

  #message(name: string, value: Json): void {
    const message = this.#model[name];
    if (message === undefined) throw new Error(`no message named ${name}`);
    if ("choose" in message) {
      const chosen = message.choose(value);
      if (chosen !== undefined) this.#single(chosen.number, chosen.type, value);
    } else if ("items" in message) {
      this.#repeated(message.items, Array.isArray(value) ? value : [value]);
    } else if (isObject(value)) this.#members(name, message, value);
  }

  #members(name: string, message: Members, value: JsonObject): void {
    let slots = this.#slots.get(name);
    if (slots === undefined) {
      slots = slotsOf(message);
      this.#slots.set(name, slots);
    }
    for (const slot of slots) {
      if (slot.member === undefined) this.#pairs(slot, value);
      else {
        const member = value[slot.member];
        if (member !== undefined) this.#field(slot.field, member);
      }
    }
  }

  #pairs({ field, isOwn }: Slot, value: JsonObject): void {
    const names = Object.keys(value);
    for (let index = names.length - 1; index >= 0; index--) {
      const name = names[index] ?? "";
      const member = value[name];
      if (member === undefined || !isOwn(name)) continue;
      const before = this.#writer.size;
      this.#single(2, field.type, member);
      this.#single(1, "text", name);
      this.#writer.delimit(field.number, before);
    }
  }

  #field(field: Field, value: Json): void {
    if (field.isRepeated) this.#repeated(field, Array.isArray(value) ? value : []);
    else if (!field.isScalar || (value !== "" && value !== 0 && value !== false)) {
      this.#single(field.number, field.type, value);
    }
  }

  #repeated(field: Field, values: readonly Json[]): void {
    for (const value of values.toReversed()) this.#single(field.number, field.type, value);
  }

  #single(number: number, type: FieldType, value: Json): void {
    const writer = this.#writer;
    const before = writer.size;
    if (type === "flag") {
      writer.uint32(value === true ? 1 : 0);
      writer.tag(number, 0);
    } else if (type === "integer") {
      writer.int64(Math.trunc(Number(value)));
      writer.tag(number, 0);
    } else if (type === "double") {
      writer.double(Number(value));
      writer.tag(number, 1);
    } else {
      if (type === "text") writer.string(String(value));
      else if (type === "any") this.#any(value);
      else this.#message(type, value);
      writer.delimit(number, before);
    }
  }

  #any(value: Json): void {
    const before = this.#writer.size;
    this.#writer.string(printAny(value));
    this.#writer.delimit(2, before);
  }
}

/** Fields by descending number, which is the order in which they are written. */
function slotsOf({ members, extensions, others }: Members): readonly Slot[] {
  const slots: Slot[] = Object.entries(members).map(([member, field]) => ({ member, field, isOwn: () => false }));
  // In messages without extensions, an `x-` name is an ordinary name.
  const isExtension = (name: string): boolean => extensions !== undefined && name.startsWith("x-");
  if (extensions !== undefined) slots.push({ field: extensions, isOwn: isExtension });
  if (others !== undefined) {
    slots.push({ field: others, isOwn: (name) => !isExtension(name) && !Object.hasOwn(members, name) });
  }
  return slots.sort((a, b) => b.field.number - a.field.number);
}
