/** The terminal of a live list, with non-blocking writes. */
import { createOutlet, type Outlet } from "./outlet.ts";

export interface Screen extends Outlet {
  readonly columns: number;
  readonly rows: number;
  /** Returns a function that stops listening. */
  onResize(callback: () => void): () => void;
}

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
