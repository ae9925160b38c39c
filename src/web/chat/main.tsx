import { render } from 'preact';
import { applyTheme } from '../shared/theme.ts';
import { ChatApp } from './chat-app.tsx';
import '../shared/base.css';
import './chat.css';

applyTheme();
const root = document.getElementById('page');
if (root !== null) render(<ChatApp />, root);
