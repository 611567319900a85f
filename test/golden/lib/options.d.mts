export interface ReplayOptions {
  base: string | undefined;
  token: string | undefined;
  users: Record<string, string>;
  only: string[];
  skip: string[];
  ignore: string[];
  with: string[];
  diffs: number;
  jobs: number;
  patience: number;
  timeout: number;
  release: string | null;
  record: string | null;
  json: string | null;
  keep: boolean;
  codes: boolean;
  steps: boolean;
  quiet: boolean;
  scenarios: string;
  recorded: string;
}

export const OPTIONS_HELP: string;
export function parseOptions(argv: readonly string[]): ReplayOptions;
