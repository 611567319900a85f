import { badRequest, plainError } from "../../base/api/api-error.ts";
import { isObject, type Json, type JsonObject } from "../../base/api/object.ts";
import { getMember, setMember } from "../../base/util/members.ts";
import type { Schema } from "../schema/schema.ts";
import { jsonTypeOf } from "./json-patch.ts";
import { withoutNulls } from "./json-values.ts";
import {
  DIRECTIVE,
  identityOf,
  itemTypeOf,
  noMergeKey,
  ordered,
  unknownDirective,
  without,
  withoutDuplicates,
  wrongType,
} from "./strategic-lists.ts";
import { goKindOf, lookUpList, lookUpObject, type MergeFacts } from "./strategic-lookup.ts";
import { goTypeOf, printGoValue } from "./strategic-print.ts";

const RETAIN_KEYS = "$retainKeys";
const DELETE_FROM = "$deleteFromPrimitiveList";
const SET_ORDER = "$setElementOrder";

/**
 * Applies a strategic merge patch by the strategies and merge keys of the schema. Throws 400, 422 or 500 with the
 * message of kube-apiserver. Modifies neither argument; the result shares parts with them, so clone it before changing
 * it. The result may contain undeclared members and nulls, so it has to be decoded.
 */
export function strategicMerge(current: JsonObject, patch: Json, schema: Schema): JsonObject {
  if (patch === null) return current;
  if (!isObject(patch)) {
    throw badRequest(`json: cannot unmarshal ${jsonTypeOf(patch)} into Go value of type map[string]interface {}`);
  }
  return mergeMap(current, patch, schema);
}

function mergeMap(current: JsonObject, patch: JsonObject, schema: Schema): JsonObject {
  if (Object.hasOwn(patch, DIRECTIVE)) return byDirective(patch);
  const merged = retain(current, patch);
  const done = new Set<string>([RETAIN_KEYS]);
  for (const member of Object.keys(patch)) {
    if (member.startsWith(SET_ORDER)) setOrder(merged, patch, { member, schema, done });
  }
  for (const [member, value] of Object.entries(patch)) {
    if (!done.has(member)) mergeMember(merged, member, value ?? null, schema);
  }
  return merged;
}

/** Compat: `$patch: replace` uses the rest of the object unchanged, including directives and nulls. */
function byDirective(patch: JsonObject): JsonObject {
  const { [DIRECTIVE]: directive, ...rest } = patch;
  if (directive === "replace") return rest;
  if (directive === "delete") return {};
  throw unknownDirective(directive, patch);
}

/** A copy of the object with only the members that the patch retains. */
function retain(current: JsonObject, patch: JsonObject): JsonObject {
  if (!Object.hasOwn(patch, RETAIN_KEYS)) return { ...current };
  const retained = patch[RETAIN_KEYS];
  if (!Array.isArray(retained)) throw badRequest("invalid patch format of retainKeys");
  const members = new Set<Json>(retained);
  for (const [member, value] of Object.entries(patch)) {
    const isDirective = member === RETAIN_KEYS || member.startsWith(DELETE_FROM) || member.startsWith(SET_ORDER);
    if (value !== null && !isDirective && !members.has(member)) throw badRequest("invalid patch format of retainKeys");
  }
  return Object.fromEntries(Object.entries(current).filter(([member]) => members.has(member)));
}

function mergeMember(merged: JsonObject, directiveOrMember: string, value: Json, schema: Schema): void {
  const isDeletion = directiveOrMember.startsWith(DELETE_FROM);
  const member = isDeletion ? nameAfter(directiveOrMember, DELETE_FROM) : directiveOrMember;
  if (value === null) {
    delete merged[member];
    return;
  }
  const before = getMember(merged, member);
  if (before === undefined || goTypeOf(before) !== goTypeOf(value)) {
    if (isDeletion) return;
    const taken = withoutDirectives(withoutNulls(value));
    if (taken === undefined) delete merged[member];
    else setMember(merged, member, taken);
  } else if (Array.isArray(before) && Array.isArray(value)) {
    setMember(merged, member, mergeLists(before, value, lookUpList(schema, member), isDeletion));
  } else if (isObject(before) && isObject(value)) {
    const facts = lookUpObject(schema, member);
    setMember(merged, member, facts.strategy === "replace" ? value : mergeMap(before, value, facts.schema));
  } else {
    setMember(merged, member, value);
  }
}

/** The member name after the slash of a directive. */
function nameAfter(directive: string, prefix: typeof DELETE_FROM | typeof SET_ORDER): string {
  if (directive.startsWith(`${prefix}/`)) return directive.slice(prefix.length + 1);
  throw badRequest(`invalid patch format of ${prefix === SET_ORDER ? "setElementOrder" : "primitive"} list`);
}

function mergeLists(before: Json[], patch: Json[], facts: MergeFacts, isDeletion: boolean): Json[] {
  if (facts.strategy !== "merge" && !isDeletion) return patch;
  if (before.length === 0 && patch.length === 0) return before;
  const itemType = itemTypeOf(before, patch);
  const { mergeKey } = facts;
  if (itemType !== "map[string]interface {}") {
    if (isDeletion) return without(before, patch);
    return ordered(withoutDuplicates([...before, ...patch]), { wanted: patch, before, mergeKey, itemType });
  }
  if (mergeKey === "") throw plainError(500, `cannot merge lists without merge key for ${goKindOf(facts.schema)}`);
  const { remaining, items } = bySpecialItems(before.filter(isObject), patch.filter(isObject), mergeKey);
  const merged = mergeItems(remaining, items, facts);
  return ordered(merged, { wanted: items, before: remaining, mergeKey, itemType });
}

/** Applies items with a directive. Returns the remaining list, and the items of the patch without a directive. */
function bySpecialItems(before: readonly JsonObject[], patch: readonly JsonObject[], mergeKey: string) {
  const items: JsonObject[] = [];
  const deleted = new Set<string>();
  let isReplacing = false;
  for (const item of patch) {
    const directive = getMember(item, DIRECTIVE);
    if (directive === undefined) items.push(item);
    else if (directive === "replace") isReplacing = true;
    else if (directive === "merge") throw plainError(500, "merging lists cannot yet be specified in the patch");
    else if (directive !== "delete") throw unknownDirective(directive, item);
    else if (!Object.hasOwn(item, mergeKey)) throw noMergeKey(item, mergeKey);
    else deleted.add(identityOf(item[mergeKey]));
  }
  if (isReplacing) return { remaining: items, items: [] };
  const isKept = (item: JsonObject) => !Object.hasOwn(item, mergeKey) || !deleted.has(identityOf(item[mergeKey]));
  return { remaining: deleted.size === 0 ? before : before.filter(isKept), items };
}

function mergeItems(before: readonly JsonObject[], patch: readonly JsonObject[], facts: MergeFacts): JsonObject[] {
  const { mergeKey, schema } = facts;
  const merged = [...before];
  const positions = new Map<string, number>();
  const note = (item: JsonObject, index: number) => {
    if (!Object.hasOwn(item, mergeKey)) return;
    const identity = identityOf(item[mergeKey]);
    if (!positions.has(identity)) positions.set(identity, index);
  };
  merged.forEach(note);
  for (const item of patch) {
    if (!Object.hasOwn(item, mergeKey)) throw noMergeKey(item, mergeKey);
    const position = positions.get(identityOf(item[mergeKey]));
    const found = position === undefined ? undefined : merged[position];
    if (position !== undefined && found !== undefined) merged[position] = mergeMap(found, item, schema);
    else note(item, merged.push(item) - 1);
  }
  return merged;
}

/** Merges a list with the order that the patch specifies, and marks both members of the patch as done. */
function setOrder(
  merged: JsonObject,
  patch: JsonObject,
  at: { readonly member: string; readonly schema: Schema; readonly done: Set<string> },
): void {
  const wanted = patch[at.member];
  if (!Array.isArray(wanted)) throw wrongType("[]interface {}", wanted);
  const member = nameAfter(at.member, SET_ORDER);
  const before = getMember(merged, member);
  const items = getMember(patch, member);
  for (const list of [before, items]) {
    if (list !== undefined && !Array.isArray(list)) throw wrongType("[]interface {}", list);
  }
  const facts = lookUpList(at.schema, member);
  const beforeList = Array.isArray(before) ? before : [];
  const itemsList = Array.isArray(items) ? items : [];
  checkOrder(itemsList, wanted, facts.mergeKey);
  at.done.add(at.member);
  if (before === undefined && items === undefined) return;
  let list: Json = beforeList;
  if (before === undefined) list = withoutDirectives(itemsList) ?? [];
  else if (items !== undefined) list = mergeLists(beforeList, itemsList, facts, false);
  const itemType = itemTypeOf(beforeList, itemsList);
  const order = { wanted, before: beforeList, mergeKey: facts.mergeKey, itemType };
  setMember(merged, member, ordered(Array.isArray(list) ? list : [], order));
  at.done.add(member);
}

/** Throws unless the items of the patch are in the wanted order. */
function checkOrder(items: readonly Json[], wanted: readonly Json[], mergeKey: string): void {
  if (items.length === 0 || wanted.length === 0) return;
  const remaining = mergeKey === "" ? items : items.filter((item) => mapOf(item)[DIRECTIVE] !== "delete");
  let next = 0;
  let position = 0;
  while (next < remaining.length && position < wanted.length) {
    const item = remaining[next] ?? null;
    if (isObject(item) && Object.hasOwn(item, DIRECTIVE)) {
      next++;
      continue;
    }
    if (isSameItem(item, wanted[position] ?? null, mergeKey)) next++;
    position++;
  }
  if (next >= remaining.length || position < wanted.length) return;
  const texts = [printGoValue([...items]), printGoValue([...wanted])];
  throw plainError(500, `The order in patch list:\n${texts[0]}\n doesn't match ${SET_ORDER} list:\n${texts[1]}\n`);
}

function isSameItem(left: Json, right: Json, mergeKey: string): boolean {
  if (mergeKey === "") return identityOf(left) === identityOf(right);
  const identities = [mapOf(left), mapOf(right)].map((item) => {
    if (!Object.hasOwn(item, mergeKey)) throw noMergeKey(item, mergeKey);
    return identityOf(item[mergeKey]);
  });
  return identities[0] === identities[1];
}

function mapOf(item: Json): JsonObject {
  if (!isObject(item)) throw wrongType("map[string]interface {}", item);
  return item;
}

/** Removes objects with a directive. Undefined if the value is one itself. */
function withoutDirectives(value: Json): Json | undefined {
  if (Array.isArray(value)) return value.map(withoutDirectives).filter((item) => item !== undefined);
  if (!isObject(value)) return value;
  if (Object.hasOwn(value, DIRECTIVE)) return undefined;
  const kept: JsonObject = {};
  for (const [member, one] of Object.entries(value)) {
    const taken = one === undefined ? undefined : withoutDirectives(one);
    if (taken !== undefined) setMember(kept, member, taken);
  }
  return kept;
}
