export interface FunctionLength {
  readonly name: string;
  readonly file: string;
  readonly line: number;
  readonly length: number;
}

/** Longest first. `sources`: path → text. */
export function functionLengths(sources: ReadonlyMap<string, string>): FunctionLength[];
