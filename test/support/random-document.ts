import type { Block, BlockDocument, SimpleBlock } from '../../src/blocks/index.js'

/** A random document; `word` makes its texts. */
export function randomDocument(random: () => number, word: () => string): BlockDocument {
  const whole = (least: number, most: number) => least + Math.floor(random() * (most - least + 1))
  const oneOf = <T>(choices: readonly T[]): T => choices[whole(0, choices.length - 1)] as T
  const simple = (): SimpleBlock => {
    const align = oneOf(['left', 'center', 'right'] as const)
    switch (whole(0, 6)) {
      case 0:
        return { type: 'heading', text: word(), level: whole(1, 3), align }
      case 1:
        return { type: 'text', text: `${word()}\n\n**${word()}**\n${word()}`, above: 0 }
      case 2:
        return { type: 'list', items: [word(), word()], numbered: whole(0, 1) === 1 }
      case 3:
        return { type: 'button', text: word(), url: 'https://x.test/?a=1&b=2', align }
      case 4:
        return { type: 'picture', url: 'https://x.test/a.png', alt: word(), width: 90 }
      case 5:
        return { type: 'social', links: [{ name: word(), url: 'https://x.test/' }] }
      default:
        return { type: 'divider', color: '#123456' }
    }
  }
  const block = (): Block =>
    whole(0, 4) === 0
      ? { type: 'columns', columns: [[simple()], [simple(), simple()]], background: '#eeeeee' }
      : simple()
  return { version: 1, blocks: Array.from({ length: whole(1, 9) }, block) }
}
