import type { ReplayOptions } from "./options.d.mts";

export interface Difference {
  readonly path: string;
  readonly expected?: unknown;
  readonly got?: unknown;
}

export interface StepResult {
  readonly id: string;
  readonly ok: boolean;
  readonly diffs: readonly Difference[];
}

export interface ScenarioResult {
  readonly name: string;
  readonly area: string;
  readonly matched: number;
  readonly total: number;
  readonly ms: number;
  readonly steps: readonly StepResult[];
}

export interface Report {
  readonly base: string;
  readonly passed: number;
  readonly failed: number;
  readonly scenarios: readonly ScenarioResult[];
}

export function runScenarios(options: ReplayOptions, onScenario?: (result: ScenarioResult) => void): Promise<Report>;
