/** Looks until `isSo` is true; throws when it is not within `withinMs` of waiting. */
export async function eventually(isSo: () => Promise<boolean>, withinMs: number): Promise<void> {
  for (let waited = 0; !(await isSo()); waited += 50) {
    if (waited > withinMs) throw new Error(`It never held: ${isSo}`)
    await new Promise((resolve) => setTimeout(resolve, 50))
  }
}
