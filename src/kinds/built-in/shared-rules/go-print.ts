import { isObject, type Json } from "../../../base/api/object.ts";

/**
 * The Go name of a field of the internal type, its JSON name, its value if absent, and the shape of a nested struct.
 */
export type GoField = readonly [name: string, member: string, absent?: Json, shape?: GoShape];
/** The fields of an internal Go type in their order. */
export type GoShape = readonly GoField[];

/** A value as `field.Error` shows an internal Go struct: with Go names, and with all absent fields. */
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
