/**
 * Makes one look-up of all that is asked for in a turn of the event loop, at most `most` in a query: under load many
 * sockets ask in one turn. `look` answers in the order of what was asked. Where it fails for several, each is looked
 * up by itself, so that one that cannot be read does not hold up the others.
 */
export function lookUpTogether<Asked, Found>(
  look: (asked: readonly Asked[]) => Promise<readonly Found[]>,
  most: number,
): (one: Asked) => Promise<Found> {
  let waiting: Waiting<Asked, Found>[] = []

  const answer = async (some: readonly Waiting<Asked, Found>[]): Promise<void> => {
    try {
      const found = await look(some.map(({ asked }) => asked))
      for (const [i, { resolve }] of some.entries()) resolve(found[i] as Found)
    } catch (error) {
      const [first, ...others] = some
      if (others.length === 0) first?.reject(error)
      else for (const one of some) await answer([one])
    }
  }
  const answerAll = async () => {
    const all = waiting
    waiting = []
    for (let from = 0; from < all.length; from += most) await answer(all.slice(from, from + most))
  }

  return (asked) =>
    new Promise<Found>((resolve, reject) => {
      if (waiting.push({ asked, resolve, reject }) === 1) setImmediate(() => void answerAll())
    })
}

interface Waiting<Asked, Found> {
  asked: Asked
  resolve: (found: Found) => void
  reject: (error: unknown) => void
}
