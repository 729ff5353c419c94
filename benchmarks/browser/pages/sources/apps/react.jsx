import { lazy, Suspense } from "react";
import { createRoot } from "react-dom/client";
import { BrowserRouter, Route, Routes } from "react-router";
import { QueryClient, QueryClientProvider } from "@tanstack/react-query";
import { name } from "./page.js";

const view = (member) => lazy(() => import("./react-views.jsx").then((views) => ({ default: views[member] })));
const reader = (member) => lazy(() => import("./react-routes.jsx").then((views) => ({ default: views[member] })));
const VIEWS = {
  "react-article": view("Article"), "react-orders": view("Orders"), "react-feed": view("Feed"),
  "react-tabs": view("Tabs"), "react-consent": view("Consent"), "react-waterfall": view("Waterfall"),
  "react-questions": view("Questions"), "react-virtual": view("Virtual"),
};
const [Page, Chapters, Chapter, Index] = [VIEWS[name], reader("Chapters"), reader("Chapter"), reader("Index")];

createRoot(document.getElementById("root")).render(
  <QueryClientProvider client={new QueryClient()}>
    <BrowserRouter basename={`/p/${name}`}>
      <Suspense fallback={<p>Loading…</p>}>
        {Page ? <Page /> : (
          <Routes>
            <Route index element={<Index />} />
            <Route path="chapters" element={<Chapters />}>
              <Route path=":number" element={<Chapter />} />
            </Route>
          </Routes>
        )}
      </Suspense>
    </BrowserRouter>
  </QueryClientProvider>,
);
