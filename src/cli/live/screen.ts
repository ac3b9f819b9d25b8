/** The terminal below a live list: written to without waiting for it. */
import { createOutlet, type Outlet } from "./outlet.ts";

export interface Screen extends Outlet {
  readonly columns: number;
  readonly rows: number;
  /** Returns how to end that. */
  onResize(callback: () => void): () => void;
}

/** `onBack`: it takes output again, after so many lines were left out. */
export function openScreen(onBack: (lines: number) => void): Screen {
  const { stdout } = process;
  const outlet = createOutlet(stdout, onBack);
  return {
    write: outlet.write,
    get isBehind() {
      return outlet.isBehind;
    },
    get columns() {
      return stdout.columns ?? 80;
    },
    get rows() {
      return stdout.rows ?? 24;
    },
    onResize: (callback) => {
      stdout.on("resize", callback);
      return () => stdout.off("resize", callback);
    },
  };
}
