import { dns1035Label, dns1123Label, dns1123Subdomain, labelValue, qualifiedName } from "../../../base/api/names.ts";
import { parseRequestUri, UrlError } from "../../../base/go/url-parse.ts";
import { sizeOf } from "../cost/runtime.ts";
import { REGEX_LENGTH, STRING_TRAVERSAL, scale } from "../cost/sizes.ts";
import type { FunctionDeclaration, Library } from "../standard/library.ts";
import { listType, optionalType, stringType, structType } from "../values/types.ts";
import { Foreign, NONE, Optional, TextList, type Value } from "../values/value.ts";
import { declare, global, member } from "./declare.ts";

const formatType = structType("kubernetes.NamedFormat");

type Check = (text: string) => readonly string[];

/** A named format that validates strings. */
class NamedFormat extends Foreign {
  override readonly isUnhashable = true;
  override get goType(): string {
    return "cel.Format";
  }
  readonly name: string;
  readonly check: Check;
  /** The length of the pattern, for cost tracking. */
  readonly patternLength: number;
  constructor(name: string, patternLength: number, check: Check) {
    super();
    this.name = name;
    this.patternLength = patternLength;
    this.check = check;
  }
  get type() {
    return formatType;
  }
  equals(other: Foreign): boolean {
    return other instanceof NamedFormat && other.name === this.name;
  }
}

/** Compat: apimachinery's maskTrailingDash, which validates prefixes of generated names. */
const asPrefix =
  (check: Check): Check =>
  (text) =>
    check(text.length > 1 && text.endsWith("-") ? `${text.slice(0, -1)}a` : text);

const unless =
  (test: (text: string) => boolean, problem: string): Check =>
  (text) =>
    test(text) ? [] : [problem];

const UUID = /^[0-9a-f]{8}-?[0-9a-f]{4}-?[0-9a-f]{4}-?[0-9a-f]{4}-?[0-9a-f]{12}$/i;
const BASE64 = /^[A-Za-z0-9+/]*={0,2}$/;
const TIME = /^([0-9]{2}):([0-9]{2}):([0-9]{2})(.[0-9]+)?(z|([+-][0-9]{2}:[0-9]{2}))$/;

function isDate(text: string): boolean {
  const [, year, month, day] = /^([0-9]{4})-([0-9]{2})-([0-9]{2})$/.exec(text) ?? [];
  if (day === undefined) return false;
  const date = new Date(0);
  date.setUTCFullYear(Number(year), Number(month) - 1, Number(day));
  return date.getUTCMonth() === Number(month) - 1 && date.getUTCDate() === Number(day);
}

function isDateTime(text: string): boolean {
  const [date = "", time] = text.toLowerCase().split("t");
  if (time === undefined || !isDate(date)) return false;
  const [, hours, minutes = "", seconds = ""] = TIME.exec(time) ?? [];
  return hours !== undefined && hours <= "23" && minutes <= "59" && seconds <= "59";
}

function uri(text: string): readonly string[] {
  try {
    parseRequestUri(text);
    return [];
  } catch (error) {
    if (!(error instanceof UrlError)) throw error;
    return [error.message];
  }
}

const FORMATS = new Map<string, NamedFormat>(
  Object.entries({
    dns1123Label: new NamedFormat("DNS1123Label", 30, dns1123Label),
    dns1123Subdomain: new NamedFormat("DNS1123Subdomain", 60, dns1123Subdomain),
    dns1035Label: new NamedFormat("DNS1035Label", 30, dns1035Label),
    qualifiedName: new NamedFormat("QualifiedName", 60, qualifiedName),
    dns1123LabelPrefix: new NamedFormat("DNS1123LabelPrefix", 30, asPrefix(dns1123Label)),
    dns1123SubdomainPrefix: new NamedFormat("DNS1123SubdomainPrefix", 60, asPrefix(dns1123Subdomain)),
    dns1035LabelPrefix: new NamedFormat("DNS1035LabelPrefix", 30, asPrefix(dns1035Label)),
    labelValue: new NamedFormat("LabelValue", 40, labelValue),
    uri: new NamedFormat("URI", 1103, uri),
    uuid: new NamedFormat(
      "uuid",
      70,
      unless((text) => UUID.test(text), "does not match the UUID format"),
    ),
    byte: new NamedFormat(
      "byte",
      84,
      unless((text) => text.length > 0 && text.length % 4 === 0 && BASE64.test(text), "invalid base64"),
    ),
    date: new NamedFormat("date", 71, unless(isDate, "invalid date")),
    datetime: new NamedFormat("datetime", 71, unless(isDateTime, "invalid datetime")),
  }),
);

const constant = (name: string, format: NamedFormat): FunctionDeclaration =>
  declare(
    `format.${name}`,
    global(`format.${name}`, [], formatType, () => format),
  );

function validate(format: NamedFormat, text: string): Value {
  const problems = format.check(text);
  return problems.length === 0 ? NONE : new Optional(new TextList(problems));
}

function named(name: string): Value {
  const format = FORMATS.get(name);
  return format === undefined ? NONE : new Optional(format);
}

/** Compat: MaxNameFormatRegexSize, which estimates use for every format. */
const LONGEST_PATTERN = 128;

/** kubernetes.format: format.<name>(), format.named(name) and validate(). */
export const formatLibrary: Library = {
  name: "kubernetes.format",
  functions: [
    ...[...FORMATS].map(([name, format]) => constant(name, format)),
    {
      ...declare(
        "validate",
        member("format-validate", [formatType, stringType], optionalType(listType(stringType)), validate),
      ),
      cost: ([format, text]) =>
        format instanceof NamedFormat
          ? Math.ceil((1 + sizeOf(text as Value)) * STRING_TRAVERSAL) * Math.ceil(format.patternLength * REGEX_LENGTH)
          : 1,
      estimate: (estimator, _, [text]) =>
        text && {
          cost: scale(scale(estimator.sizeOf(text), STRING_TRAVERSAL), LONGEST_PATTERN * REGEX_LENGTH),
        },
    },
    declare("format.named", global("format-named", [stringType], optionalType(formatType), named)),
  ],
};
