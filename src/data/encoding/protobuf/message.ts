import { isObject, type JsonObject } from "../../../base/api/object.ts";
import { WireWriter } from "../../../base/util/wire-writer.ts";
import { isWrittenAsNull } from "../../schema/go-names.ts";
import type { Schema } from "../../schema/schema.ts";
import type { ValueCodec } from "./codec.ts";
import { embeddedField, FieldSet, listField, type Member, mapField, type Slots, singleField } from "./fields.ts";
import { formCodec } from "./forms.ts";
import { Reader } from "./reader.ts";
import { BOOL, BYTES, DOUBLE, INT32, INT64, STRING } from "./scalars.ts";

/** Encodes an object with this schema. Members without a field number are left out. */
export function encodeMessage(schema: Schema, value: JsonObject): Buffer {
  scratch.reset();
  codecOf(schema).write(scratch, value);
  return scratch.finish();
}

/**
 * Decodes a message with this schema; members are in the order of the schema. The schema determines whether zero values
 * are included. Unknown fields are skipped. Throws DecodeError, and 413 for a request body that contains too much.
 */
export function decodeMessage(schema: Schema, bytes: Uint8Array, isBody = false): JsonObject {
  const input = new Reader(bytes, isBody);
  return codecOf(schema).read(input, input.size) as JsonObject;
}

// Encoding is synchronous, so one buffer is sufficient.
const scratch = new WireWriter();

function codecOf(schema: Schema): ValueCodec {
  if (schema.wire !== undefined) return formCodec(schema.wire, schema, codecOf);
  switch (schema.type) {
    case "string":
      return schema.format === "byte" ? BYTES : STRING;
    case "integer":
      return schema.format === "int32" ? INT32 : INT64;
    case "number":
      return DOUBLE;
    case "boolean":
      return BOOL;
    default:
      return messageCodec(schema);
  }
}

const NO_PROPERTIES: ReadonlyMap<string, Schema> = new Map();
// Schemas of the same type share their properties, whichever field they belong to.
const codecs = new WeakMap<ReadonlyMap<string, Schema>, ValueCodec>();

function messageCodec(schema: Schema): ValueCodec {
  const properties = schema.properties ?? NO_PROPERTIES;
  const known = codecs.get(properties);
  if (known !== undefined) return known;
  // Created on first use, because a type may contain itself.
  let plan: MessagePlan | undefined;
  const getPlan = (): MessagePlan => {
    plan ??= planOf(schema.component ?? "", properties);
    return plan;
  };
  const codec: ValueCodec = {
    wireType: 2,
    write: (out, value) => {
      const { fields, slotByName, members } = getPlan();
      fields.write(out, isObject(value) ? slotsOf(value, slotByName, members.length) : []);
    },
    read: (input, end) => {
      const { fields, members } = getPlan();
      const slots: Slots = new Array(members.length);
      input.enter();
      fields.read(input, end, slots);
      input.leave();
      return objectOf(members, slots, input);
    },
    zero: () => objectOf(getPlan().members, []),
  };
  codecs.set(properties, codec);
  return codec;
}

/** The plan for messages of one type. */
interface MessagePlan {
  readonly fields: FieldSet;
  /** In the order of the schema. The index of a member is its slot. */
  readonly members: readonly PlannedMember[];
  readonly slotByName: ReadonlyMap<string, number>;
}

interface PlannedMember extends Member {
  readonly isSingle: boolean;
  /** A pointer without `omitempty`: null in JSON if the message omits it. */
  readonly isWrittenAsNull: boolean;
}

function planOf(component: string, properties: ReadonlyMap<string, Schema>): MessagePlan {
  const message = component.slice(component.lastIndexOf(".") + 1) || "message";
  const members: PlannedMember[] = [];
  const root = newLevel();
  for (const [name, schema] of properties) {
    if (schema.proto === undefined) continue;
    const { number, within = [] } = schema.proto;
    const isList = schema.wire === undefined && schema.items !== undefined;
    const isMap = schema.values !== undefined;
    const member: PlannedMember = {
      ...{ name, number, slot: members.length, zero: schema.zero, isSingle: !isList && !isMap },
      isWrittenAsNull: isWrittenAsNull(component, name),
      codec: codecOf((isList && schema.items) || (isObject(schema.values) && schema.values) || schema),
    };
    members.push(member);
    let level = root;
    for (const outer of within) level = levelWithin(level, outer);
    level.fields.push((isList ? listField : isMap ? mapField : singleField)(member));
  }
  const slotByName = new Map(members.map(({ name, slot }) => [name, slot]));
  return { fields: fieldSetOf(message, root), members, slotByName };
}

/** Fields of one message, and the messages embedded in it by number. */
interface Level {
  readonly fields: ReturnType<typeof singleField>[];
  readonly embedded: Map<number, Level>;
}

function newLevel(): Level {
  return { fields: [], embedded: new Map() };
}

function levelWithin(level: Level, number: number): Level {
  const inner = level.embedded.get(number) ?? newLevel();
  level.embedded.set(number, inner);
  return inner;
}

function fieldSetOf(message: string, { fields, embedded }: Level): FieldSet {
  const inner = [...embedded].map(([number, level]) => embeddedField(number, fieldSetOf(message, level)));
  return new FieldSet(message, [...fields, ...inner]);
}

// An object omits most members of its type, and looking up missing members is slow.
function slotsOf(object: JsonObject, slotByName: ReadonlyMap<string, number>, count: number): Slots {
  const slots: Slots = new Array(count);
  for (const name of Object.keys(object)) {
    const slot = slotByName.get(name);
    if (slot !== undefined) slots[slot] = object[name];
  }
  return slots;
}

/** JSON size of a member besides its name: quotes, colon, comma and a value such as `""` or `{}`. */
const ADDED_BYTES = 6;

function objectOf(members: readonly PlannedMember[], slots: Slots, input?: Reader): JsonObject {
  const object: JsonObject = {};
  let added = 0;
  for (const member of members) {
    let value = slots[member.slot];
    if (member.zero === "omitted") {
      if (value === undefined || value === null || value === "" || value === 0 || value === false) continue;
    } else if (value === undefined) {
      if (member.isWrittenAsNull) value = null;
      else if (member.zero === undefined) continue;
      else value = member.isSingle ? member.codec.zero() : null;
      added += member.name.length + ADDED_BYTES;
    }
    object[member.name] = value;
  }
  input?.add(added);
  return object;
}
