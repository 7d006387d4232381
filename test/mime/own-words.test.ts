import t from 'tap'
import { ownWords } from '../../src/mime/index.js'

const own = 'Hello,\n\nthat is right.\n\nAnn'

t.test(
  'what is quoted below an answer is told apart, in five languages and by Outlook',
  async (t) => {
    const heads = [
      'On Fri, 21 Nov 2026 at 10:00, Shop <shop@example.com> wrote:',
      'On Fri, 21 Nov 2026 at 10:00, A Very Long Name Of A Shop\n<shop@example.com> wrote:',
      'Am 21.11.2026 um 10:00 schrieb Shop <shop@example.com>:',
      'Am Fr., 21. Nov. 2026 um 10:00 Uhr schrieb Shop <\nshop@example.com>:',
      'Shop <shop@example.com> schrieb am Fr. 21. Nov. 2026 um 10:00:',
      'Le ven. 21 nov. 2026 à 10:00, Shop <shop@example.com> a écrit :',
      'El vie, 21 nov 2026 a las 10:00, Shop (<shop@example.com>) escribió:',
      'Em sex., 21 de nov. de 2026 às 10:00, Shop <shop@example.com> escreveu:',
      '-----Original Message-----\nFrom: Shop',
      '-----Ursprüngliche Nachricht-----\nVon: Shop',
      'From: Shop <shop@example.com>\nSent: Friday, November 21, 2026 10:00\nTo: Ann\nSubject: Order',
      'Von: Shop <shop@example.com>\nGesendet: Freitag, 21. November 2026 10:00\nAn: Ann\nBetreff: Bestellung',
      'De : Shop <shop@example.com>\nEnvoyé : vendredi 21 novembre 2026 10:00\nÀ : Ann\nObjet : Commande',
      'De: Shop <shop@example.com>\nEnviado: viernes, 21 de noviembre de 2026 10:00\nPara: Ann\nAsunto: Pedido',
      'De: Shop <shop@example.com>\nEnviada em: sexta-feira\nData: 21/11/2026\nPara: Ann\nAssunto: Pedido',
      '________________________________\nFrom: Shop',
    ]
    for (const head of heads) {
      for (const quote of [
        '> Your order.\n> It is on its way.',
        'Your order.\nIt is on its way.',
      ]) {
        const found = ownWords(`${own}\n\n${head}\n\n${quote}\n`)
        t.equal(found.own, own, head)
        t.equal(found.quoted, `${head}\n\n${quote}`)
      }
    }
  },
)

t.test('answers between the lines stay, without the lines', async (t) => {
  const text = 'On Friday, Shop wrote:\n> When?\nAt ten.\n> Where?\nHere.\n'
  t.same(ownWords(text), { own: 'At ten.\nHere.', quoted: '> When?\n> Where?' })
})

t.test('a text that quotes nothing is its writer’s, whatever it says', async (t) => {
  for (const text of [
    'I said on Monday: he wrote this.',
    'From: here to there\nis a long way.',
    'a > b\nb < c',
    '',
  ]) {
    t.same(ownWords(text), { own: text, quoted: null })
  }
})

t.test('what is long and looks like nothing takes no time', async (t) => {
  for (const line of [
    'On '.repeat(1_000),
    '<'.repeat(9_000),
    'De: '.repeat(500),
    'Le x '.repeat(99),
  ]) {
    const text = `${line}\n`.repeat(19_000)
    t.equal(ownWords(text).own.length > 0, true)
  }
})
