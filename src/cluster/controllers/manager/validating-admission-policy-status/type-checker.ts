import { admissionEnvironment, admissionTypes } from "../../../../data/cel/kubernetes/admission-environment.ts";
import { authorizerType } from "../../../../data/cel/kubernetes/authorizer.ts";
import { storedExpressions } from "../../../../data/cel/kubernetes/environment.ts";
import { fieldType, typesOf, VARIABLES, variableTypes } from "../../../../data/cel/policies/compiler.ts";
import { CompileError, compile } from "../../../../data/cel/program.ts";
import { dynType, type Type } from "../../../../data/cel/values/types.ts";
import type { PolicySpec, Rule } from "../../../../kinds/types/admission-registration.ts";
import type { Catalog, ServedResource } from "../../../../resources/model/catalog.ts";
import { DeclaredTypes } from "../../../../resources/validation-rules/declared-type.ts";
import { declaredKind } from "./declared-kind.ts";

/** ExpressionWarning of admissionregistration.k8s.io. */
export interface ExpressionWarning {
  readonly fieldRef: string;
  readonly warning: string;
}

/** Compat: `maxTypesToCheck`. */
const MAX_TYPES = 10;

/**
 * Type-checks the validations of a ValidatingAdmissionPolicy against the kinds that its rules name. Upstream:
 * `TypeChecker`.
 */
export function checkTypes(catalog: Catalog, spec: PolicySpec): ExpressionWarning[] {
  const kinds = kindsOf(catalog, spec.matchConstraints?.resourceRules ?? []);
  const warnings: ExpressionWarning[] = [];
  const check = (fieldRef: string, text: string | undefined) => {
    if (!text) return;
    const found = kinds.flatMap((kind) => problemIn(catalog, kind, spec, text));
    if (found.length > 0) warnings.push({ fieldRef, warning: found.join("\n") });
  };
  for (const [index, { expression, messageExpression }] of (spec.validations ?? []).entries()) {
    check(`spec.validations[${index}].expression`, expression);
    check(`spec.validations[${index}].messageExpression`, messageExpression);
  }
  return warnings;
}

function problemIn(catalog: Catalog, kind: ServedResource, spec: PolicySpec, text: string): string[] {
  const problem = compileFor(catalog, kind, spec, text);
  if (problem === undefined) return [];
  const { definition, version } = kind;
  return [`${definition.group}/${version.name}, Kind=${definition.kind}: ${problem}\n`];
}

/** The compilation error of an expression for objects of a kind. Undefined if there is none. */
function compileFor(catalog: Catalog, kind: ServedResource, spec: PolicySpec, text: string): string | undefined {
  const declared = new DeclaredTypes();
  const { paramKind } = spec;
  const param = paramKind && catalog.findKind(paramKind.apiVersion ?? "", paramKind.kind ?? "");
  const object = typeIn(declared, kind);
  const fields = new Map<string, Type>();
  const env = admissionEnvironment(storedExpressions, {}).extend({
    types: typesOf([declared, variableTypes(fields), admissionTypes]),
    variables: {
      object,
      oldObject: object,
      ...(paramKind && { params: param ? typeIn(declared, param) : dynType }),
      // Compat: `buildEnvSet` does not have authorizer.requestResource.
      authorizer: authorizerType,
      variables: VARIABLES,
    },
  });
  for (const { name = "", expression = "" } of spec.variables ?? []) {
    const checked = compile(expression, env);
    fields.set(name, checked instanceof CompileError ? dynType : fieldType(checked.type));
  }
  const checked = compile(text, env);
  return checked instanceof CompileError ? checked.message : undefined;
}

function typeIn(declared: DeclaredTypes, { definition, version }: ServedResource): Type {
  const known = declaredKind(definition, version.schema());
  // Compat: `generateUniqueTypeName` uses nanoseconds of the clock as the number.
  return known ? declared.typeOf(known, `${definition.kind}1`) : dynType;
}

/** The kinds that rules name without wildcards or subresources, sorted. Upstream: `typesToCheck`. */
function kindsOf(catalog: Catalog, rules: readonly Rule[]): ServedResource[] {
  const found = new Set<ServedResource>();
  for (const { apiGroups = [], apiVersions = [], resources = [] } of rules) {
    if ([...apiGroups, ...apiVersions].some((text) => text.includes("*"))) continue;
    const plurals = resources.filter((text) => !/[*/]/.test(text)).sort();
    let count = 0;
    for (const group of [...apiGroups].sort()) {
      for (const version of [...apiVersions].sort()) {
        for (const plural of plurals) {
          const kind = catalog.find(group, version, plural);
          if (!kind || kind.definition.reading === "open") continue;
          found.add(kind);
          count += 1;
          if (count === MAX_TYPES) return sorted(found);
        }
      }
    }
  }
  return sorted(found);
}

function sorted(kinds: Iterable<ServedResource>): ServedResource[] {
  const key = ({ definition, version }: ServedResource) => [definition.group, version.name, definition.kind].join("\0");
  return [...kinds].sort((a, b) => (key(a) < key(b) ? -1 : 1));
}
