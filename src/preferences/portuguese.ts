import type { Strings } from './strings.js'

const unaffected = 'Os e-mails sobre os seus próprios pedidos ou a sua conta não mudam.'
const underWay = 'Um e-mail que já está a caminho ainda pode chegar.'

export const portuguese: Strings = {
  language: 'pt',
  footerReason: (account, topic) =>
    topic === undefined
      ? `Recebe este e-mail de ${account}.`
      : `Recebe este e-mail de ${account} sobre «${topic}».`,
  footerChoose: 'Escolher o que recebe',
  footerLeave: 'Cancelar a subscrição',
  someTopic: 'este tema',
  ask: {
    title: 'Cancelar a subscrição?',
    lines: ({ account, address, topic }) => [
      topic === undefined
        ? `${account} não enviará mais e-mails de marketing para ${address}.`
        : `${account} não enviará mais e-mails sobre «${topic}» para ${address}.`,
      unaffected,
    ],
    button: 'Cancelar a subscrição',
  },
  done: {
    title: 'A sua subscrição está cancelada',
    lines: ({ account, address, topic }) => [
      topic === undefined
        ? `${address} já não recebe e-mails de marketing de ${account}.`
        : `${address} já não recebe e-mails sobre «${topic}» de ${account}.`,
      underWay,
    ],
    button: 'Desfazer: subscrever de novo',
  },
  back: {
    title: 'Está subscrito de novo',
    lines: ({ account, address, topic }) => [
      topic === undefined
        ? `${address} volta a receber e-mails de marketing de ${account}.`
        : `${address} volta a receber e-mails sobre «${topic}» de ${account}.`,
    ],
    button: 'Cancelar a subscrição',
  },
  reason: {
    legend: 'Diz-nos porquê? Não é obrigatório.',
    choices: {
      too_many: 'Recebo demasiados',
      not_wanted: 'Já não os quero',
      never_asked: 'Nunca os pedi',
      other: 'Outra coisa',
    },
    words: 'Pelas suas palavras',
    button: 'Enviar',
    thanks: 'Obrigado.',
  },
  toCentre: 'Escolher por tema o que recebe',
  centre: {
    title: ({ account }) => `O que recebe de ${account}`,
    intro: {
      subscribed: ({ account, address }) =>
        `Esta página é sobre os e-mails de marketing que ${account} envia para ${address}.`,
      left: ({ account, address }) =>
        `${account} não envia e-mails de marketing para ${address}: cancelou tudo.`,
    },
    unaffected,
    unreachable: ({ account, address }) =>
      `Os e-mails de ${account} não conseguem chegar a ${address} neste momento, e esta página não pode mudar isso. O que escolher aqui fica guardado. Se sente falta dos e-mails, escreva-lhes.`,
    legend: 'Marque o que deseja receber',
    save: 'Guardar a minha escolha',
    parts: {
      line: 'Há mais temas. Guarde aqui a sua escolha antes de continuar.',
      earlier: 'Temas anteriores',
      more: 'Mais temas',
    },
    fields: {
      title: ({ account }) => `O que ${account} sabe de si`,
      line: 'Pode alterá-lo aqui ou deixá-lo vazio.',
      none: '– nada –',
      save: 'Guardar as alterações',
      saved: 'As suas alterações estão guardadas.',
      notSaved: 'Ainda nada foi guardado: veja o que está assinalado, por favor.',
      wrong: {
        text: 'Escreva no máximo 300 caracteres numa linha, por favor.',
        number: 'Escreva um número, por exemplo 12 ou 3,5, por favor.',
        date: 'Escreva uma data, por exemplo 2026-11-29, por favor.',
        choice: 'Escolha uma destas opções, por favor.',
      },
    },
    leave: {
      title: 'Nada mesmo?',
      line: ({ account }) =>
        `Mais nenhum e-mail de marketing de ${account}, nem sobre temas novos.`,
      button: 'Cancelar tudo',
    },
    comeBack: {
      title: 'Mudou de ideia?',
      line: ({ account }) => `Receba os mesmos e-mails de marketing de ${account} que antes.`,
      button: 'Subscrever de novo',
    },
    status: {
      saved: 'A sua escolha está guardada.',
      savedNone:
        'A sua escolha está guardada: nenhum destes temas. Ainda podem chegar e-mails sobre outras coisas; abaixo pode cancelar tudo.',
      stillLeft: 'Nada estava marcado, por isso nada mudou.',
      left: `Cancelou tudo. ${underWay}`,
      back: 'Está subscrito de novo.',
    },
  },
  erased: {
    title: 'Os seus dados foram apagados',
    lines: ({ account, address }) => [
      `${account} apagou o que sabia de ${address} e já não lhe envia e-mails de marketing.`,
      `Aqui nada foi alterado nem guardado. Se quiser receber de novo e-mails de ${account}, inscreva-se por um dos seus formulários.`,
    ],
  },
  shown: {
    title: 'Esta ligação é só uma amostra',
    lines: [
      'Está na cópia de um e-mail que não é a do destinatário.',
      'No próprio e-mail leva à página onde se cancela a subscrição.',
    ],
  },
  unknown: {
    title: 'Esta ligação não funciona',
    lines: [
      'Talvez tenha sido cortada: abra-a de novo a partir do e-mail ou copie-a inteira.',
      'Também pode responder ao e-mail e pedir que não lhe escrevam mais.',
    ],
  },
}
