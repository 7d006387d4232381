/**
 * Breaks off what is under way for one mail. Like an AbortController with its signal, but for one listener at a time:
 * an AbortController would cost each mail as much as writing its header (5 µs and its garbage, Nov 2026).
 */
export interface Cut {
  /** Why it was broken off; undefined while it has not been. */
  why: string | undefined
  /** Called when it is broken off. */
  onCut: ((why: string) => void) | undefined
}

export const makeCut = (): Cut => ({ why: undefined, onCut: undefined })

/** Ends an attempt from outside; only the first reason is told. */
export function breakOff(cut: Cut, why: string): void {
  if (cut.why !== undefined) return
  cut.why = why
  cut.onCut?.(why)
}
