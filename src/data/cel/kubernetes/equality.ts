import { fixed, STRING_TRAVERSAL, scale } from "../cost/sizes.ts";
import { operators } from "../parser/ast.ts";
import type { Library } from "../standard/library.ts";

/** Compat: MaxFormatSize. */
const LONGEST_FORMAT = 64;

const ONE = { cost: fixed(1) };
const OF_FORMATS = { cost: scale({ min: 1, max: LONGEST_FORMAT }, STRING_TRAVERSAL) };

const isForeign = (name: string) => name.startsWith("kubernetes.") || name === "net.IP" || name === "net.CIDR";

/** Estimates of `==` for values of Kubernetes' own types, which have no size. */
export const equalityEstimates: Library = {
  name: "kubernetes.equality",
  functions: [
    {
      name: operators.equals,
      overloads: [],
      estimate(_, __, [a, b]) {
        if (a === undefined || b === undefined || !a.type.is(b.type) || !isForeign(a.type.name)) return undefined;
        if (a.type.name === "kubernetes.URL") {
          return { cost: scale({ min: 1, max: b.size?.max ?? 1 }, STRING_TRAVERSAL) };
        }
        return a.type.name === "kubernetes.NamedFormat" ? OF_FORMATS : ONE;
      },
    },
  ],
};
