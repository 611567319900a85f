import { badRequest } from "./api-error.ts";

/** One condition on one field. */
export interface FieldRequirement {
  readonly field: string;
  readonly isEqual: boolean;
  readonly value: string;
}

/** Conditions that must all be met. An empty list matches everything. */
export type FieldSelector = readonly FieldRequirement[];

/** Parses a field selector. Throws BadRequest with the message of kube-apiserver. */
export function parseFieldSelector(text: string): FieldSelector {
  const terms = splitTerms(text).filter((term) => term !== "");
  return terms.map((term) => {
    const match = /^(.*?)(==|!=|=)(.*)$/s.exec(term);
    if (!match) throw badRequest(`invalid selector: '${text}'; can't understand '${term}'`);
    const [, field = "", operator, value = ""] = match;
    return { field, isEqual: operator !== "!=", value: unescapeValue(value) };
  });
}

/** Whether the fields of an object meet every requirement. A missing field counts as empty. */
export function matchesFields(selector: FieldSelector, readField: (field: string) => string): boolean {
  return selector.every(({ field, isEqual, value }) => (readField(field) === value) === isEqual);
}

function splitTerms(text: string): string[] {
  const terms: string[] = [];
  let start = 0;
  let isEscaped = false;
  for (let at = 0; at < text.length; at += 1) {
    const character = text.charAt(at);
    if (isEscaped) isEscaped = false;
    else if (character === "\\") isEscaped = true;
    else if (character === ",") {
      terms.push(text.slice(start, at));
      start = at + 1;
    }
  }
  terms.push(text.slice(start));
  return terms;
}

function unescapeValue(value: string): string {
  let out = "";
  for (let at = 0; at < value.length; at += 1) {
    const character = value.charAt(at);
    if (character === "\\") {
      at += 1;
      const escaped = value.charAt(at);
      if (escaped !== "\\" && escaped !== "," && escaped !== "=") {
        throw badRequest(`invalid field selector: invalid escape sequence: \\${escaped}`);
      }
      out += escaped;
    } else if (character === "," || character === "=") {
      throw badRequest(`invalid field selector: unescaped character in value: ${character.charCodeAt(0)}`);
    } else {
      out += character;
    }
  }
  return out;
}
