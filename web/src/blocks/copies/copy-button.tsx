/** Puts a text on the clipboard, and says so. */
import { ActionIcon } from '@mantine/core';
import { Check, Copy } from 'lucide-react';
import { useState } from 'react';
import { useTranslations } from 'use-intl';
import { announce } from '../page/announcements.tsx';

interface CopyButtonProperties {
  text: string;
  /** What is copied: "Copy the password". */
  label: string;
}

export function CopyButton({ text, label }: CopyButtonProperties) {
  const t = useTranslations('blocks');
  const [isCopied, setCopied] = useState(false);
  async function copy() {
    try {
      await navigator.clipboard.writeText(text);
      setCopied(true);
      announce({ kind: 'good', text: t('copied') });
    } catch {
      // Browsers give no clipboard to pages on plain http from elsewhere.
      announce({ kind: 'bad', text: t('notCopied') });
    }
  }
  return (
    <ActionIcon variant="default" aria-label={label} title={label} onClick={() => void copy()}>
      {isCopied ? <Check size={15} aria-hidden="true" /> : <Copy size={15} aria-hidden="true" />}
    </ActionIcon>
  );
}
