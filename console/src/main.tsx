/** Starts the console in the browser. */
import './styles/console.css';
import { QueryClientProvider } from '@tanstack/react-query';
import { createRoot } from 'react-dom/client';
import { queryClient } from './lib/queries.ts';
import { applyTheme } from './lib/theme.ts';
import { startHistory } from './route/history.ts';
import { Router } from './router.tsx';
import { App } from './shell/app.tsx';

applyTheme();
startHistory();
const root = document.getElementById('root');
if (root === null) throw new Error('the page has no root element');
createRoot(root).render(
  <QueryClientProvider client={queryClient}>
    <Router>
      <App />
    </Router>
  </QueryClientProvider>,
);
