import { Environment } from "../environment.ts";
import { twoVariableLibrary } from "../standard/comprehensions.ts";
import type { Library } from "../standard/library.ts";
import { literalValidators } from "../standard/literal-validators.ts";
import { optionalLibrary } from "../standard/optional.ts";
import { standardLibrary } from "../standard/standard.ts";
import { authorizerLibrary } from "./authorizer.ts";
import { cidrLibrary } from "./cidr.ts";
import { equalityEstimates } from "./equality.ts";
import { ipLibrary } from "./ip.ts";
import { listExtensionsLibrary } from "./list-extensions.ts";
import { listsLibrary, listsLibraryWithIncludes } from "./lists.ts";
import { formatLibrary } from "./named-formats.ts";
import { quantityLibrary } from "./quantity.ts";
import { regexLibrary } from "./regex.ts";
import { semverLibrary } from "./semver.ts";
import { setsLibrary } from "./sets.ts";
import { stringsLibrary } from "./strings.ts";
import { urlsLibrary } from "./urls.ts";

const shared: readonly Library[] = [
  standardLibrary,
  optionalLibrary,
  urlsLibrary,
  regexLibrary,
  authorizerLibrary,
  quantityLibrary,
  stringsLibrary,
  setsLibrary,
  ipLibrary,
  cidrLibrary,
  formatLibrary,
  twoVariableLibrary,
  semverLibrary,
  listExtensionsLibrary,
  literalValidators,
  equalityEstimates,
];

/**
 * The environment of new expressions: the libraries up to 1.36, one minor version back, so that a server of that
 * version can still read stored expressions. Upstream: EnvSet.NewExpressionsEnv.
 */
export const newExpressions = new Environment({ libraries: [...shared, listsLibrary] });

/** The environment of stored expressions: all libraries. Upstream: EnvSet.StoredExpressionsEnv. */
export const storedExpressions = new Environment({
  libraries: [...shared, listsLibraryWithIncludes],
});
