import { isObject, type Json } from "../../api/object.ts";

/** How the real server's internal structure calls a member, what it has when absent, and the shape of a nested one. */
export type GoField = readonly [name: string, member: string, absent?: Json, shape?: GoShape];
/** The members of an internal structure in their order. */
export type GoShape = readonly GoField[];

/**
 * A value as the real server shows its own form of it in messages: with other names, and with everything that is
 * absent.
 */
export function asGo(value: Json | undefined, shape: GoShape): Json {
  if (Array.isArray(value)) return value.map((item) => asGo(item, shape));
  if (!isObject(value)) return null;
  return Object.fromEntries(
    shape.map(([name, member, absent = null, inner]) => {
      const found = value[member] ?? undefined;
      return [name, found === undefined ? absent : inner ? asGo(found, inner) : found];
    }),
  );
}
