import type { BlockType } from '../../blocks/index.js'
import { lostAnswer, shownAnswer } from './answers.js'
import { type BlockQuestion, blockNames, questions } from './fields.js'
import type { TypedBlock } from './form.js'

interface CardQuestion {
  name: string
  question: BlockQuestion
  value: string
  /** The answer as it is (JSON), where the field alone would change it. */
  was: string | undefined
}

/** A card of the page, as plain values. */
export interface BlockCard {
  /** `3`, or `3.0.1`: of its buttons, and of the id that its buttons come back to. */
  place: string
  type: BlockType
  title: string
  first: boolean
  last: boolean
  block: TypedBlock
  questions: CardQuestion[]
  looks: CardQuestion[]
  columns: { at: string; cards: BlockCard[] }[]
}

/** The cards of a document. */
export const cardsOf = (blocks: readonly TypedBlock[], at = ''): BlockCard[] =>
  blocks.map((block, index) => {
    const place = `${at}${index}`
    const asked = questions[block.type].map((question) => ({
      name: `b.${place}.${question.name}`,
      question,
      value: shownAnswer(question, block[question.name]),
      was: lostAnswer(question, block[question.name]),
    }))
    const columns = (block.columns as TypedBlock[][] | undefined) ?? []
    return {
      place,
      type: block.type,
      title: blockNames[block.type],
      first: index === 0,
      last: index === blocks.length - 1,
      block,
      questions: asked.filter(({ question }) => question.look !== true),
      looks: asked.filter(({ question }) => question.look === true),
      columns: columns.map((cards, column) => ({
        at: `${place}.${column}.`,
        cards: cardsOf(cards, `${place}.${column}.`),
      })),
    }
  })
