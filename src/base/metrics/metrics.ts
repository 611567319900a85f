import { addAll } from "../util/add-all.ts";

/** Label values of one series, by label name. */
export type Labels<Name extends string> = Readonly<Record<Name, string>>;

/** Options of a metric family. */
export interface FamilyOptions<Name extends string> {
  readonly name: string;
  readonly help: string;
  readonly labels?: readonly Name[];
  /** Maximum number of series. Further ones share a series whose labels are all `other`. Default: 10,000. */
  readonly limit?: number;
}

const DEFAULT_LIMIT = 10_000;

/** One time series. */
interface Series {
  /** Whether it changed since it was printed last. */
  isChanged: boolean;
  reset(): void;
}

/** The value of a counter or gauge. */
export class Value implements Series {
  isChanged = true;
  #value = 0;

  get value(): number {
    return this.#value;
  }

  add(amount = 1): void {
    this.#value += amount;
    this.isChanged = true;
  }

  set(value: number): void {
    this.#value = value;
    this.isChanged = true;
  }

  reset(): void {
    this.set(0);
  }
}

/** A histogram: counts of observed values by bucket. */
export class Distribution implements Series {
  isChanged = true;
  readonly #bounds: readonly number[];
  /** Not cumulative; printing adds them up. The last bucket has no bound. */
  readonly #counts: number[];
  #sum = 0;

  constructor(bounds: readonly number[]) {
    this.#bounds = bounds;
    this.#counts = new Array<number>(bounds.length + 1).fill(0);
  }

  get counts(): readonly number[] {
    return this.#counts;
  }

  get sum(): number {
    return this.#sum;
  }

  /** `weight`: how many observations of this value it counts for. */
  observe(value: number, weight = 1): void {
    const bounds = this.#bounds;
    let bucket = 0;
    while (bucket < bounds.length && value > (bounds[bucket] as number)) bucket++;
    this.#counts[bucket] = (this.#counts[bucket] as number) + weight;
    this.#sum += value * weight;
    this.isChanged = true;
  }

  reset(): void {
    this.#counts.fill(0);
    this.#sum = 0;
    this.isChanged = true;
  }
}

/** A metric with one series per combination of label values. */
export interface Family<Name extends string, One> {
  /** The series with these labels, created on first use. Frequent callers should keep it. */
  of(labels: Labels<Name>): One;
}

/** One sample. */
export interface Sample<Name extends string> {
  readonly labels: Labels<Name>;
  readonly value: number;
}

type FamilyType = "counter" | "gauge" | "histogram";

/** A registered family. */
interface Printed {
  readonly name: string;
  readonly head: Uint8Array;
  print(): readonly Uint8Array[];
  reset(): void;
}

/** A set of metrics in the Prometheus text exposition format 0.0.4. */
export class MetricRegistry {
  #families: Printed[] = [];

  counter<Name extends string>(options: FamilyOptions<Name>): Family<Name, Pick<Value, "add">> {
    return this.#add("counter", new SeriesFamily(options, () => new Value(), printValue));
  }

  /** Gauges keep their values on reset, because they describe the current state. */
  gauge<Name extends string>(options: FamilyOptions<Name>): Family<Name, Pick<Value, "add" | "set">> {
    return this.#add("gauge", new SeriesFamily(options, () => new Value(), printValue, false));
  }

  histogram<Name extends string>(
    options: FamilyOptions<Name> & { readonly bounds: readonly number[] },
  ): Family<Name, Pick<Distribution, "observe">> {
    const { bounds } = options;
    const edges = [...bounds.map(printNumber), "+Inf"];
    return this.#add(
      "histogram",
      new SeriesFamily(
        options,
        () => new Distribution(bounds),
        (name, labels, series) => printDistribution(name, labels, series, edges),
      ),
    );
  }

  /** A metric that is measured when it is scraped. If `read` returns undefined, the metric is omitted. */
  measured<Name extends string = never>(
    type: "counter" | "gauge",
    { name, help }: FamilyOptions<Name>,
    read: () => number | undefined | readonly Sample<Name>[],
  ): void {
    const print = () => {
      const found = read();
      if (found === undefined) return [];
      if (typeof found === "number") return [Buffer.from(printValue(name, "", { value: found }))];
      return found.map(({ labels, value }) => Buffer.from(printValue(name, printLabels(labels), { value })));
    };
    this.#list({ name, head: headOf(name, help, type), print, reset: () => {} });
  }

  /** Prints all families that have series, sorted by name. Only changed series are printed again. */
  bytes(): Uint8Array {
    const chunks: Uint8Array[] = [];
    for (const { head, print } of this.#families) {
      const lines = print();
      if (lines.length > 0) addAll(chunks, [head], lines);
    }
    return Buffer.concat(chunks);
  }

  /** Resets counters and histograms. */
  reset(): void {
    for (const family of this.#families) family.reset();
  }

  #add<Name extends string, One extends Series>(
    type: FamilyType,
    family: SeriesFamily<Name, One>,
  ): SeriesFamily<Name, One> {
    const { name, help } = family.options;
    const print = () => family.print();
    this.#list({ name, head: headOf(name, help, type), print, reset: () => family.reset() });
    return family;
  }

  #list(family: Printed): void {
    if (this.#families.some(({ name }) => name === family.name))
      throw new Error(`metric ${family.name} is already registered`);
    this.#families = [...this.#families, family].sort((a, b) => (a.name < b.name ? -1 : 1));
  }
}

class SeriesFamily<Name extends string, One extends Series> implements Family<Name, One> {
  readonly options: FamilyOptions<Name>;
  readonly #make: () => One;
  readonly #printSeries: (name: string, labels: string, series: One) => string;
  readonly #isReset: boolean;
  readonly #series = new Map<string, One>();
  /** Each with its last printed text. */
  #sorted: { readonly labels: string; readonly series: One; bytes: Uint8Array }[] = [];

  constructor(
    options: FamilyOptions<Name>,
    make: () => One,
    printSeries: (name: string, labels: string, series: One) => string,
    isReset = true,
  ) {
    this.options = options;
    this.#make = make;
    this.#printSeries = printSeries;
    this.#isReset = isReset;
  }

  of(labels: Labels<Name>): One {
    const printed = printLabels(labels);
    return this.#series.get(printed) ?? this.#open(printed);
  }

  print(): readonly Uint8Array[] {
    if (this.#sorted.length < this.#series.size) this.#sort();
    const { name } = this.options;
    return this.#sorted.map((one) => {
      if (one.series.isChanged) {
        one.series.isChanged = false;
        one.bytes = Buffer.from(this.#printSeries(name, one.labels, one.series));
      }
      return one.bytes;
    });
  }

  reset(): void {
    if (this.#isReset) for (const series of this.#series.values()) series.reset();
  }

  #open(printed: string): One {
    const isFull = this.#series.size >= (this.options.limit ?? DEFAULT_LIMIT);
    const key = isFull
      ? [...(this.options.labels ?? [])]
          .sort()
          .map((label) => `${label}="other"`)
          .join(",")
      : printed;
    const known = this.#series.get(key);
    if (known) return known;
    const series = this.#make();
    this.#series.set(key, series);
    return series;
  }

  #sort(): void {
    const known = new Set(this.#sorted.map(({ labels }) => labels));
    for (const [labels, series] of this.#series) {
      if (!known.has(labels)) this.#sorted.push({ labels, series, bytes: NOTHING });
    }
    this.#sorted.sort((a, b) => (a.labels < b.labels ? -1 : 1));
  }
}

const NOTHING = new Uint8Array();

/** Prints labels sorted by name. */
function printLabels(labels: Readonly<Record<string, string>>): string {
  const names = Object.keys(labels).sort();
  return names.map((name) => `${name}="${escapeValue(labels[name] ?? "")}"`).join(",");
}

function headOf(name: string, help: string, type: FamilyType): Uint8Array {
  const line = help.replaceAll("\\", "\\\\").replaceAll("\n", "\\n");
  return Buffer.from(`# HELP ${name} ${line}\n# TYPE ${name} ${type}\n`);
}

function printValue(name: string, labels: string, { value }: Pick<Value, "value">): string {
  return `${name}${labels === "" ? "" : `{${labels}}`} ${printNumber(value)}\n`;
}

function printDistribution(
  name: string,
  labels: string,
  { counts, sum }: Distribution,
  edges: readonly string[],
): string {
  const start = `${name}_bucket{${labels}${labels === "" ? "" : ","}le="`;
  let total = 0;
  let text = "";
  for (let bucket = 0; bucket < counts.length; bucket++) {
    total += counts[bucket] ?? 0;
    text += `${start}${edges[bucket]}"} ${printNumber(total)}\n`;
  }
  const braces = labels === "" ? "" : `{${labels}}`;
  return `${text}${name}_sum${braces} ${printNumber(sum)}\n${name}_count${braces} ${printNumber(total)}\n`;
}

function escapeValue(value: string): string {
  if (!/[\\"\n]/.test(value)) return value;
  return value.replaceAll("\\", "\\\\").replaceAll('"', '\\"').replaceAll("\n", "\\n");
}

/** Compat: Go's `strconv.AppendFloat(b, f, 'g', -1, 64)`, which Prometheus' expfmt uses for every value. */
function printNumber(value: number): string {
  const size = Math.abs(value);
  if (size === 0 || (size >= 1e-4 && size < 1e6)) return String(value);
  if (size === Number.POSITIVE_INFINITY) return value > 0 ? "+Inf" : "-Inf";
  if (Number.isNaN(value)) return "NaN";
  return value.toExponential().replace(/e([+-])(\d)$/, "e$10$2");
}
