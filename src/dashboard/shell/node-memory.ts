import { randomBytes } from 'node:crypto'

/**
 * What pages keep in the memory of one node for a while. The next request may come to another node, which asks that one:
 * what is kept has an id that begins with the node's number.
 */
export interface NodeMemory {
  /** An id that nobody can guess, for something that this node keeps. */
  newId(): string
  /**
   * From now on `find` answers for this kind at this node. Resolves by whichever node has made the id; undefined where
   * nothing is kept, or that node does not answer.
   */
  keeps(
    kind: string,
    find: (id: string) => string | undefined,
  ): (id: string) => Promise<string | undefined>
  /** What this node keeps, for another node. */
  answer(asked: KeptThing): string | undefined
}

/** What is asked for: the kind, and the id with what else `find` goes by. */
export interface KeptThing {
  kind: string
  id: string
}

/** What `newId` makes, and what may follow it. */
const pattern = /^(\d{1,2})-[\w-]{24}(?: |$)/

/** `ask`: asks the node with a number. */
export function makeNodeMemory(
  number: number,
  ask: (node: number, asked: KeptThing) => Promise<string | undefined>,
): NodeMemory {
  const finds = new Map<string, (id: string) => string | undefined>()
  return {
    newId: () => `${number}-${randomBytes(18).toString('base64url')}`,
    keeps(kind, find) {
      finds.set(kind, find)
      return async (id) => {
        const node = Number(pattern.exec(id)?.[1] ?? number)
        return node === number ? find(id) : await ask(node, { kind, id })
      }
    },
    answer: ({ kind, id }) => finds.get(kind)?.(id),
  }
}

/** The memory of an appliance that is alone. */
export const ownMemory = () => makeNodeMemory(1, async () => undefined)
